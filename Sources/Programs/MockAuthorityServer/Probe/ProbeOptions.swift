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
        var given: [(name: String, value: String)] = []
        var operands: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let (name, value) = parts(of: word)
            if name.isEmpty {
                operands.append(word)
            } else if !(Self.ofToken + Self.others).contains(name) {
                throw .usage("probe has no flag '\(word)'.")
            } else if let value = value ?? rest.popFirst() {
                given.append((name, value))
            } else {
                throw .usage("\(word) needs a value.")
            }
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
        guard let keyAge = MockAuthority.seconds(value("key-age") ?? "24h"), keyAge >= 0 else {
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
        tokenQuery =
            given.filter { Self.ofToken.contains($0.name) }.map(Self.asClientsAsk)
            + (tokenType.map { [("typ", $0)] } ?? [])
    }

    /// Every MSAL asks for `openid profile` beside the scope, and Entra writes `oid` and `tid` for those who do.
    private static func asClientsAsk(_ flag: (name: String, value: String)) -> (name: String, value: String) {
        guard flag.name == "scope" else { return flag }
        let asked = flag.value.split(separator: " ").map(String.init)
        return ("scope", (["openid", "profile"].filter { !asked.contains($0) } + asked).joined(separator: " "))
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

    static let help = """
        mock-authority probe URL [flags]

        Sends good and bad tokens to your own API, in any language, and prints what the API accepts and should not.

        Your API must trust a running mock-authority: its issuer, its audience, its key set. URL is a resource of the API
        that needs a token and answers a good one with 2xx. Both are tried first, because otherwise nothing can be learned.
        Then the probe gives the mock a new key, sends every bad token that the mock can make, and tokens of other tenants,
        of other applications and of their keys, and takes the key set out of reach.

          mock-authority probe http://localhost:8080/api/orders
          mock-authority probe http://localhost:8080/api/orders --scope tasks.read --format junit > probe.xml

        Other clients of the mock notice that. At the end the mock signs with the key that the API has taken, and has no
        fault; an API that has not taken the new key finds the former ones again.

        Flags:
          --authority URL        the running mock [MOCK_AUTHORITY; default: that of make run in this folder, or
                                 http://127.0.0.1:3001]
          --scope S              what the API requires, in the good token (beside openid and profile); also tries tokens
                                 that lack the scope
          --user NAME --policy P --client ID --profile b2c|external-id|entra --tenant DOMAIN
                                 the good token, as in `mock-authority token`; the defaults are its defaults. With --client,
                                 accepting the token of another application is a finding
          --trusts ID            another tenant or application of the mock that the API trusts on purpose; may be repeated
          --method M             the method of the requests [default: GET]
          --header 'NAME: VALUE' one more header field of the requests; may be repeated
          --ca-file FILE         certificates in PEM that are trusted in place of the machine's own
          --token-type T         typ in the header of the tokens, such as at+jwt
          --wait SECONDS         how long the API may need to load a new key, and how long the probe watches a withdrawn one;
                                 many libraries load keys once in 30 s at most, others in 5 or 10 minutes [default: 35]
          --key-age TIME         how long the API may take tokens of a withdrawn key, such as 13h [default: 24h]
          --pace SECONDS         between two tokens of unknown keys, for which libraries fetch keys [default: 6]
          --fail-on breach|setting|note|never
                                 what exit code 1 means: breaches of a standard alone, missing settings as well, or notes too
                                 [default: setting]
          --accept FILE          the names of findings that you live with, a line each; # begins a comment
          --format text|json|junit|sarif

        Exit codes: 0, no finding that fails; 1, at least one; 2, nothing could be found out, and the message says what to do.
        """
}

extension OperatorError {
    /// The probe learned nothing, because it was called or set up wrongly.
    static func usage(_ sentence: String) -> OperatorError {
        .unknown("\(sentence) `mock-authority probe --help` shows how to use it.")
    }

    static func unknown(_ sentences: String) -> OperatorError { OperatorError(sentences, .unknown) }
}
