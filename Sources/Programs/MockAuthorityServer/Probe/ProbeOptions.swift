import Basics
import MockAuthority

struct ProbeOptions {
    enum Format: String, CaseIterable {
        case text, json, junit
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
    /// The ids of tenants and applications whose tokens the API accepts on purpose.
    let trusted: [String]
    /// The flags that select the tenant and the good token, in the query of a control.
    let tokenQuery: [(name: String, value: String)]

    private static let ofToken = ["user", "policy", "client", "scope", "profile", "tenant"]
    private static let others = ["authority", "format", "method", "header", "ca-file", "wait", "trusts"]

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
            throw .usage("--format is text, json or junit.")
        }
        guard let wait = Int(value("wait") ?? "35"), (0...3600).contains(wait) else {
            throw .usage("--wait is a number of seconds from 0 to 3600.")
        }
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
        tokenQuery = given.filter { Self.ofToken.contains($0.name) }
    }

    static let help = """
        mock-authority probe URL [flags]

        Sends good and bad tokens to your own API, in any language, and prints what the API accepts and should not.

        Your API must trust a running mock-authority: its issuer, its audience, its key set. URL is a resource of the API
        that needs a token and answers a good one with 2xx. Both are tried first, because otherwise nothing can be learned.
        Then the probe changes the key of the mock for a moment, sends every bad token that the mock can make, and tokens of other
        tenants, of other applications and of their keys, and takes the key set out of reach.

          mock-authority probe http://localhost:8080/api/orders
          mock-authority probe http://localhost:8080/api/orders --scope tasks.read --format junit > probe.xml

        Other clients of the mock notice that. At the end, also after Ctrl-C, the mock has its keys and its key set again.

        Flags:
          --authority URL        the running mock [MOCK_AUTHORITY; default: that of make run in this folder, or
                                 http://127.0.0.1:3001]
          --scope S              what the API requires, in the good token; also tries tokens that lack the scope
          --user NAME --policy P --client ID --profile b2c|external-id|entra --tenant DOMAIN
                                 the good token, as in `mock-authority token`; the defaults are its defaults
          --trusts ID            another tenant or application of the mock that the API trusts on purpose; may be repeated
          --method M             the method of the requests [default: GET]
          --header 'NAME: VALUE' one more header field of the requests; may be repeated
          --ca-file FILE         certificates in PEM that are trusted in place of the machine's own
          --wait SECONDS         how long the API may need to load a new key; many libraries load keys once in 30 s at most
                                 [default: 35]
          --format text|json|junit

        Exit codes: 0, nothing was accepted that should not be; 1, something was; 2, nothing could be found out, and the
        message says what to do.
        """
}

extension OperatorError {
    /// The probe learned nothing, because it was called or set up wrongly.
    static func usage(_ sentence: String) -> OperatorError {
        .unknown("\(sentence) `mock-authority probe --help` shows how to use it.")
    }

    static func unknown(_ sentences: String) -> OperatorError { OperatorError(sentences, .unknown) }
}
