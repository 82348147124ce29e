import Basics
import Synchronization
package import Zlib

/// A list of tasks as the API answers it, rendered once and shared by all readers.
package struct TaskList: Sendable {
    /// The list in JSON: an array of tasks, in one line.
    package let json: [UInt8]
    /// The names that its tasks have.
    package private(set) var names = TaskNames.both
    /// The strong entity tag of these bytes and of whether more tasks follow, in quotes.
    package let entityTag: String
    /// The id of the last task if more follow on another page, else nothing.
    package let next: Int64?
    /// The place of a long list, which all share to whom it is sent.
    package private(set) var place: AnswerPlace?
    /// The list for clients that ask for gzip; nil for a short list.
    package let gzip: GzipForm?

    /// A ``TaskPage`` makes a list from tasks.
    package init(json: [UInt8], entityTag: String, next: Int64? = nil) {
        self.json = json
        self.entityTag = entityTag
        self.next = next
        // Lists are compressed after every change: a tenth fewer bytes are not worth eight times the time.
        gzip = GzipForm(of: json, .fast)
    }

    /// A list with the tag of its bytes.
    package init(json: [UInt8], _ names: TaskNames = .both, next: Int64?, place: AnswerPlace?) {
        let tag = StrongEntityTag(of: json, isWhole: next == nil)
        self.init(json: json, entityTag: tag.text, next: next)
        (self.names, self.place) = (names, place)
    }

    /// The most bytes that the list takes together with its gzip form.
    package var mostBytes: Int { json.capacity + (gzip?.limit ?? 0) }

    /// The same list at this place, or at none.
    package func at(_ place: AnswerPlace?) -> TaskList {
        var list = self
        list.place = place
        return list
    }

    /// The same list with another id after which more tasks follow.
    func followed(after id: Int64) -> TaskList { TaskList(json: json, names, next: id, place: place) }
}

extension TaskList: Equatable {
    /// Whether clients see the same list.
    package static func == (left: TaskList, right: TaskList) -> Bool {
        left.json == right.json && left.entityTag == right.entityTag && left.next == right.next
    }
}

/// The gzip form of a list or a file, which is made for the first client that asks for it and kept beside the content.
package final class GzipForm: Sendable {
    /// The shortest content that has a gzip form, in bytes; shorter content fits into one packet as it is.
    package static let shortest = 1024

    private let content: [UInt8]
    private let effort: Gzip.Effort
    /// Nil until the form is made.
    private let form = Mutex<[UInt8]??>(nil)

    /// Prepares the form of this content without making it; nil for short content.
    package init?(of content: [UInt8], _ effort: Gzip.Effort) {
        guard content.count >= Self.shortest else { return nil }
        self.content = content
        self.effort = effort
    }

    /// The most bytes that the form can have.
    package var limit: Int { content.count / 2 }

    /// Whether ``bytes`` returns without compressing, and without waiting for another thread that compresses.
    package var isMade: Bool {
        form.withLockIfAvailable { $0 != nil } ?? false
    }

    /// The form, made now unless it was made before; nil if gzip saves less than half of the bytes.
    package var bytes: [UInt8]? {
        form.withLock { form in
            let bytes = form ?? Gzip.compress(content, effort, limit: limit)
            form = .some(bytes)
            return bytes
        }
    }
}
