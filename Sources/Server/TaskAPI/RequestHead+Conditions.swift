import Basics
import HTTP
import Tasks

extension HeaderSection {
    /// Whether the body has no coding (RFC 9110 section 8.4).
    var hasPlainBody: Bool {
        guard mayContain("Content-Encoding") else { return true }
        return values("Content-Encoding").allSatisfy { value in
            value.split(separator: ",").allSatisfy { $0.trimmingBlanks.isEqualIgnoringCase(to: "identity") }
        }
    }
}

extension RequestHead {
    /// The revisions of a task that `If-Match` allows; nil: any (RFC 9110 section 13.1.1).
    func expectedRevisions(of id: Int64) -> Set<Int64>? {
        guard headers.contains("If-Match") else { return nil }
        return TaskItem.revisions(ifMatch: headers.values("If-Match").joined(separator: ","), of: id)
    }

    /// Refuses `If-Match` where several tasks may change or go, which no tag of one of them can guard.
    func requireNoCondition(_ reason: String = "it guards one task, by its id") throws(APIFailure) {
        guard !headers.contains("If-Match") else {
            throw .input(.field(name: "If-Match", expected: "left out: \(reason)"))
        }
    }
}
