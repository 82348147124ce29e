import Basics
import HTTP
import JSON

/// The settings that the real page gives its script: clients without a browser read them by these names.
struct PageSettings: Sendable {
    let step: SignInStep
    let form: PageForm
    let offersSignUp: Bool

    private var context: RequestContext { step.context }
    private var csrf: String { step.transaction.csrf }
    /// The policy as it is defined, as in `B2C_1_susi`.
    private var policy: String { context.policy.name }

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
            "csrf": .string(csrf), "transId": .string(StateProperties.text(step.name)),
            "pageViewId": .string(GUID.random()), "pageMode": 0,
            "config": ["showSignupLink": offersSignUp ? "True" : "False", "operatingMode": "Email"],
            "hosts": [
                "tenant": .string("/\(context.url.tenant)/\(policy)"), "policy": .string(policy),
                "static": .string(context.base + "/static/"),
            ],
            "locale": ["lang": "en"],
        ]
    }

    /// The cookies of the real page; one client rebuilds the transaction's name from the second.
    var cookies: FieldLines {
        let entry: JSONValue = [
            "I": .string(step.name), "T": .string(context.configuration.tenant.name), "P": .string(policy), "S": 1,
            "M": [:], "D": 0,
        ]
        let trans: JSONValue = ["T_DIC": .array([entry]), "C_ID": .string(step.name)]
        let attributes = Session(context: context).attributes
        var headers = FieldLines()
        headers.append("Set-Cookie", "x-ms-cpim-csrf=\(csrf); \(attributes)")
        headers.append("Set-Cookie", "x-ms-cpim-trans=\(Base64.encode(trans.serialized())); \(attributes)")
        return headers
    }
}
