import Basics
import MockAuthority
import Platform

struct ProbeOptions {
    enum Format: String, CaseIterable {
        case text, json, junit, sarif
    }

    /// The resource of the API, which needs a token.
    let url: String
    let authority: String
    let format: Format
    let method: String
    let fields: [String]
    let caFile: String?
    /// The seconds for which the API may still refuse the tokens of a new key.
    let wait: Int
    /// The seconds between two tokens of unknown keys.
    let pace: Int
    /// The seconds for which the API may take tokens of a withdrawn key.
    let keyAge: Int
    /// The least finding for which the exit code is 1; `nil` for none.
    let failOn: ProbeResult.Kind?
    /// The names of the findings that the team lives with.
    let accepted: Set<String>
    let tokenType: String?
    /// The ids of tenants and applications whose tokens the API accepts on purpose.
    let trusted: [String]
    /// The flags that select the tenant and the good token, in the query of a control.
    let tokenQuery: [(name: String, value: String)]

    private static let ofToken = ["user", "policy", "client", "scope", "profile", "tenant"]
    private static let others = [
        "authority", "format", "method", "header", "ca-file", "wait", "trusts", "pace", "key-age", "fail-on", "accept",
        "token-type",
    ]

    var requiresScope: Bool { tokenQuery.contains { $0.name == "scope" } }

    init(_ arguments: [String]) throws(OperatorError) {
        let (given, operands) = try flags(Self.ofToken + Self.others, in: arguments) { .usage("\($0) needs a value.") }
        if let flag = operands.first(where: { !parts(of: $0).name.isEmpty }) {
            throw .usage("probe has no flag '\(flag)'.")
        }
        func value(_ name: String) -> String? { given.last { $0.name == name }?.value }
        func values(_ name: String) -> [String] { given.filter { $0.name == name }.map(\.value) }
        guard operands.count == 1, let url = WebAddress(operands[0]), !url.hasFragment else {
            throw .usage("probe needs one URL of your API, such as http://localhost:8080/api/orders.")
        }
        guard let format = Format(rawValue: value("format") ?? "text") else {
            throw .usage("--format is text, json, junit or sarif.")
        }
        guard let wait = Int(value("wait") ?? "35"), (0...3600).contains(wait) else {
            throw .usage("--wait is a number of seconds from 0 to 3600.")
        }
        guard let pace = Int(value("pace") ?? "6"), (0...600).contains(pace) else {
            throw .usage("--pace is a number of seconds from 0 to 600.")
        }
        guard let keyAge = ClaimChanges.seconds(value("key-age") ?? "24h"), keyAge >= 0 else {
            throw .usage("--key-age is a time such as 13h.")
        }
        let least = value("fail-on") ?? ProbeResult.Kind.setting.rawValue
        failOn = ProbeResult.Kind(rawValue: least)
        guard failOn != nil || least == "never" else { throw .usage("--fail-on is breach, setting, note or never.") }
        (self.pace, self.keyAge) = (pace, Int(keyAge))
        var accepted: Set<String> = []
        for path in values("accept") { accepted.formUnion(try Self.names(in: path)) }
        self.accepted = accepted
        tokenType = value("token-type")
        fields = values("header")
        guard fields.allSatisfy({ $0.contains(":") && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
            throw .usage("--header is a line such as 'X-Api-Key: 123'.")
        }
        self.url = operands[0]
        (self.format, self.wait) = (format, wait)
        let address = value("authority") ?? runningAuthority()
        authority = address.hasSuffix("/") ? String(address.dropLast()) : address
        method = value("method") ?? "GET"
        caFile = value("ca-file")
        trusted = values("trusts")
        tokenQuery = given.filter { Self.ofToken.contains($0.name) } + (tokenType.map { [("typ", $0)] } ?? [])
    }

    /// The names in a file of `--accept`, a line each; what follows a `#` says why.
    private static func names(in path: String) throws(OperatorError) -> [String] {
        let bytes = try rethrowing(as: { OperatorError.usage("--accept: \($0).") }) { () throws(SystemError) in
            try File.read(path)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.prefix { $0 != "#" }.split(separator: " ").first.map(String.init)
        }
    }

    static let help = String(decoding: PackageResources.help_txt.dropLast(), as: UTF8.self)
}

extension OperatorError {
    /// The probe learned nothing, because it was called or set up wrongly.
    static func usage(_ sentence: String) -> OperatorError {
        .unknown("\(sentence) `mock-authority probe --help` shows how to use it.")
    }

    static func unknown(_ sentences: String) -> OperatorError { OperatorError(sentences, .unknown) }
}
