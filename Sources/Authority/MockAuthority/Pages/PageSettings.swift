import Basics
import HTTP
import JSON

/// The settings that the real page gives its script: clients without a browser read them by these names.
struct PageSettings: Sendable {
    let transaction: String
    let csrf: String
    /// `/contoso.onmicrosoft.com/B2C_1_susi`, the policy as defined.
    let tenant: String
    let policy: String
    let host: String
    let form: PageForm
    let offersSignUp: Bool

    /// `var SETTINGS = {...};`, with `<` escaped so that no value can end the script.
    var script: String {
        let text = String(decoding: json.serialized(), as: UTF8.self)
        let safe = text.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "\\u003c")
        return "var SETTINGS = \(safe);"
    }

    private var api: String {
        switch form {
        case .signIn: "CombinedSigninAndSignup"
        case .signUp, .profile, .resetPassword, .facebook, .device: "SelfAsserted"
        }
    }

    private var json: JSONValue {
        [
            "remoteResource": "", "retryLimit": 3, "trimSpacesInPassword": true, "api": .string(api),
            "csrf": .string(csrf), "transId": .string(StateProperties.text(transaction)),
            "pageViewId": .string(GUID.random()), "pageMode": 0,
            "config": ["showSignupLink": offersSignUp ? "True" : "False", "operatingMode": "Email"],
            "hosts": ["tenant": .string(tenant), "policy": .string(policy), "static": .string(host + "/static/")],
            "locale": ["lang": "en"],
        ]
    }

    /// The cookies of the real page; one client rebuilds the transaction's name from the second.
    func cookies(attributes: String, _ context: RequestContext) -> FieldLines {
        let entry: JSONValue = [
            "I": .string(transaction), "T": .string(context.configuration.tenant.name), "P": .string(policy), "S": 1,
            "M": [:], "D": 0,
        ]
        let trans: JSONValue = ["T_DIC": .array([entry]), "C_ID": .string(transaction)]
        var headers = FieldLines()
        headers.append("Set-Cookie", "x-ms-cpim-csrf=\(csrf); \(attributes)")
        headers.append("Set-Cookie", "x-ms-cpim-trans=\(Base64.encode(trans.serialized())); \(attributes)")
        return headers
    }
}
