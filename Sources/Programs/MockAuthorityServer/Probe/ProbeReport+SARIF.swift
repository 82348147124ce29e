import Basics
import JSON

extension ProbeReport {
    /// The findings in SARIF 2.1.0, which code scanning reads; what the team has accepted is suppressed.
    var sarif: JSONValue {
        let found = results.compactMap { result in result.finding.map { (result, $0) } }
        let rules = found.map { result, finding -> JSONValue in
            [
                "id": .string(result.sent.name), "shortDescription": ["text": .string(result.sent.words)],
                "help": ["text": .string(finding.remedy.isEmpty ? Self.forNobody : finding.remedy)],
            ]
        }
        let rows = found.map { result, finding -> JSONValue in
            let level = [.breach: "error", .setting: "warning"][finding.kind] ?? "note"
            let suppression: JSONValue = ["kind": "external", "justification": "accepted by --accept"]
            return [
                "ruleId": .string(result.sent.name), "level": .string(level),
                "message": ["text": .string(result.sentences)],
                "locations": [
                    ["logicalLocations": [["fullyQualifiedName": .string(options.url), "kind": "resource"]]]
                ],
                "suppressions": .array(isAccepted(result) ? [suppression] : []),
            ]
        }
        let driver: JSONValue = [
            "name": "mock-authority probe", "version": .string(programVersion), "rules": .array(rules),
        ]
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [["tool": ["driver": driver], "results": .array(rows)]],
        ]
    }
}
