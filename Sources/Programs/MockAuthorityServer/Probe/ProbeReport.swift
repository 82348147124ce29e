import Basics
import JSON
import MockAuthority

/// A token for the API, described for people.
struct ProbedToken {
    var name: String
    var words: String
    /// Why the API should refuse the token; `nil` if that is for the API to decide.
    var rule: BadTokenRule?

    /// What it means that the API accepted the token.
    var finding: ProbeResult.Finding {
        guard let rule else { return .note("") }
        let isBreach = rule.kind == .breach
        return ProbeResult.Finding(
            kind: isBreach ? .breach : .setting,
            reason: "\(rule.danger) \(isBreach ? "That breaks" : "See") \(rule.source).", remedy: rule.remedy)
    }
}

/// What the API answered to a token, and what follows.
struct ProbeResult {
    /// What is wrong, the worst first.
    enum Kind: String, CaseIterable {
        case breach, setting, note

        var title: String {
            switch self {
            case .breach: "BREAKS A STANDARD"
            case .setting: "A SETTING IS MISSING"
            case .note: "Note"
            }
        }
    }

    struct Finding {
        let kind: Kind
        /// Why the answer is wrong; empty for a token of which no standard says so.
        let reason: String
        var remedy = ""

        /// What a refusal says: nothing is wrong, unless the API failed.
        static func failure(_ status: Int) -> Finding? {
            (100...499).contains(status) ? nil : .note("It should answer 401. Look into its log.")
        }

        static func note(_ reason: String) -> Finding { Finding(kind: .note, reason: reason) }
        static func breach(_ reason: String, _ remedy: String) -> Finding {
            Finding(kind: .breach, reason: reason, remedy: remedy)
        }
    }

    let sent: ProbedToken
    /// The status of the answer; 0 if there was none.
    let status: Int
    /// `nil` if the answer is right.
    let finding: Finding?

    /// The answer, and why it is wrong.
    var sentences: String {
        let answer = "The API \(status == 0 ? "did not answer" : "answered \(status)") to \(sent.name) (\(sent.words))."
        guard let finding else { return answer }
        return "\(answer) \(finding.reason.isEmpty ? ProbeReport.forNobody : finding.reason)"
    }
}

struct ProbeReport {
    static let forNobody = "No standard forbids that. task-server refuses it; decide what your API does."

    let options: ProbeOptions
    let results: [ProbeResult]

    var output: String {
        switch options.format {
        case .text: text
        case .json: String(decoding: json.serialized(), as: UTF8.self)
        case .junit: junit
        case .sarif: String(decoding: sarif.serialized(), as: UTF8.self)
        }
    }

    /// The findings of this kind, without those that the team has accepted.
    func open(_ kind: ProbeResult.Kind) -> [ProbeResult] {
        results.filter { $0.finding?.kind == kind && !isAccepted($0) }
    }

    func isAccepted(_ result: ProbeResult) -> Bool { options.accepted.contains(result.sent.name) }

    /// The findings for which the exit code is 1.
    var failures: [ProbeResult] {
        let kinds = ProbeResult.Kind.allCases
        guard let least = options.failOn, let last = kinds.firstIndex(of: least) else { return [] }
        return kinds[...last].flatMap(open)
    }

    private var text: String {
        let accepted = results.filter { $0.finding != nil && isAccepted($0) }.map(\.sent.name)
        let undecided = open(.note).filter { $0.finding?.reason.isEmpty == true }
        var blocks = open(.note).filter { $0.finding?.reason.isEmpty == false }.map { block($0) }
        if !undecided.isEmpty {
            let list = undecided.map { "  \($0.sent.name) (\($0.sent.words))" }.joined(separator: "\n")
            blocks.append(
                "Note: The API accepted these. No standard forbids it, and task-server refuses them; decide what your API "
                    + "does.\n\(list)\n")
        }
        blocks += [.setting, .breach].flatMap(open).map { block($0) }
        if !accepted.isEmpty { blocks.append("Accepted by --accept: \(accepted.joined(separator: ", ")).\n") }
        return (blocks + [summary]).joined(separator: "\n")
    }

    private func block(_ result: ProbeResult) -> String {
        guard let finding = result.finding else { return "" }
        let remedy = finding.remedy.isEmpty ? "" : "\n  Remedy: \(finding.remedy)"
        return "\(finding.kind.title): \(result.sentences)\(remedy)\n"
    }

    private var summary: String {
        let (breaches, settings, notes) = (open(.breach).count, open(.setting).count, open(.note).count)
        let wrong = breaches + settings
        let number = wrong == 0 ? "none" : "\(wrong)"
        let kinds = wrong == 0 ? "" : " (\(breaches) against a standard, \(settings) for want of a setting)"
        return "Of \(results.count.counted("request")), the API accepted \(number) that it should refuse\(kinds); "
            + "\(notes.counted("note"))."
    }

    private var json: JSONValue {
        let rows = results.map { result -> JSONValue in
            [
                "name": .string(result.sent.name), "words": .string(result.sent.words),
                "status": .integer(Int64(result.status)), "verdict": .string(result.finding?.kind.rawValue ?? "right"),
                "reason": .string(result.finding?.reason ?? ""), "remedy": .string(result.finding?.remedy ?? ""),
                "accepted": .boolean(isAccepted(result)),
            ]
        }
        return ["url": .string(options.url), "failures": .integer(Int64(failures.count)), "results": .array(rows)]
    }

    /// The form that continuous integration reads: a case for each token, a failure for each finding that fails.
    private var junit: String {
        let failed = Set(failures.map(\.sent.name))
        let cases = results.map { result in
            let sentences = result.sentences.escapedForMarkup
            let content =
                failed.contains(result.sent.name)
                ? "<failure message=\"\(sentences)\"/>"
                : result.finding == nil ? "" : "<system-out>\(sentences)</system-out>"
            let name = "\(result.sent.name): \(result.sent.words)".escapedForMarkup
            return "<testcase classname=\"mock-authority probe\" name=\"\(name)\">\(content)</testcase>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="\(options.url.escapedForMarkup)" tests="\(results.count)" failures="\(failed.count)" errors="0">
            \(cases.joined())</testsuite>
            """
    }
}
