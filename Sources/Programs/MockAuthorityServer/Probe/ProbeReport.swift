import Basics
import JSON
import MockAuthority

/// A token for the API, described for people.
struct ProbedToken {
    var name: String
    var words: String
    /// What an attacker can do if the API accepts the token, and the rule that forbids it; `nil` if no standard does.
    var breach: String?
}

/// What the API answered to a token, and what follows.
struct ProbeResult {
    enum Verdict: String {
        /// The API accepted what it must refuse.
        case wrong = "accepted wrongly"
        /// The answer lets nobody in who may not come in, but whoever runs the API should know of it.
        case noted
        case right
    }

    let sent: ProbedToken
    /// The status of the answer; 0 if there was none.
    let status: Int
    let verdict: Verdict
    /// Why the answer is wrong, or what to do about it.
    let reason: String

    fileprivate var sentences: String {
        "The API \(status == 0 ? "did not answer" : "answered \(status)") to \(sent.name) (\(sent.words)). \(reason)"
    }
}

struct ProbeReport {
    let url: String
    let results: [ProbeResult]

    var wrong: [ProbeResult] { results.filter { $0.verdict == .wrong } }

    func output(_ format: ProbeOptions.Format) -> String {
        switch format {
        case .text: text
        case .json: String(decoding: json.serialized(), as: UTF8.self)
        case .junit: junit
        }
    }

    private var text: String {
        let notes = results.filter { $0.verdict == .noted }.map { "Note: \($0.sentences)\n" }
        let findings = wrong.map { "ACCEPTED: \($0.sentences)\n" }
        let number = wrong.isEmpty ? "none" : "\(wrong.count)"
        let end = "Of \(results.count.counted("request")), the API accepted \(number) that it should refuse."
        return (notes + findings + [end]).joined(separator: "\n")
    }

    private var json: JSONValue {
        let rows = results.map { result -> JSONValue in
            [
                "name": .string(result.sent.name), "words": .string(result.sent.words),
                "status": .integer(Int64(result.status)), "verdict": .string(result.verdict.rawValue),
                "reason": .string(result.reason),
            ]
        }
        return ["url": .string(url), "accepted": .integer(Int64(wrong.count)), "results": .array(rows)]
    }

    /// The form that continuous integration reads: a case for each token, a failure for each that was wrongly accepted.
    private var junit: String {
        let cases = results.map { result in
            let sentences = result.sentences.escapedForMarkup
            let content =
                switch result.verdict {
                case .wrong: "<failure message=\"\(sentences)\"/>"
                case .noted: "<system-out>\(sentences)</system-out>"
                case .right: ""
                }
            let name = "\(result.sent.name): \(result.sent.words)".escapedForMarkup
            return "<testcase classname=\"mock-authority probe\" name=\"\(name)\">\(content)</testcase>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="\(url.escapedForMarkup)" tests="\(results.count)" failures="\(wrong.count)" errors="0">
            \(cases.joined())</testsuite>
            """
    }
}
