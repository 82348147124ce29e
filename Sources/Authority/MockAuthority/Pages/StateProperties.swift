import Basics
import HTTP
import JSON
import Tokens

/// The name of a transaction as URLs and scripts of the real page carry it.
enum StateProperties {
    private static let prefix = "StateProperties="

    /// `StateProperties=` and the name in JSON in Base64.
    static func text(_ name: String) -> String {
        prefix + Base64URL.encode(JSONObject([("TID", .string(name))]).bytes)
    }

    static func name(_ text: String) -> String? {
        guard text.hasPrefix(prefix), let bytes = Base64.decodeLenient(text.dropFirst(prefix.count)) else { return nil }
        return (try? JSONValue(parsing: bytes))?.object?["TID"]?.string
    }

    /// The answer to a step of a transaction that is unknown or over, with the code of B2C.
    static func expiredPage(_ context: RequestContext) -> Response {
        let code = context.configuration.profile == .b2c ? "AADB2C90046: " : ""
        return Page(
            title: "This sign-in is over",
            content: """
                <p role="alert">\(code)We are having trouble loading your current state. You might want to try \
                starting your session over from the beginning.</p>
                """, status: 400
        ).response
    }
}
