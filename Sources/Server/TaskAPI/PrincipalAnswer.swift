import Basics
import HTTP
import JSON
import Tasks
import Tokens

/// `GET /api/me`: the claims of the presented token that the server used.
enum PrincipalAnswer {
    static func answer(_ request: APIRequest, _ principal: Principal) -> HandlerResult {
        var body: JSONObject = [
            "owner": .string(principal.owner),
            "name": principal.name.map { .string($0) } ?? .null,
            "policy": principal.policy.map { .string($0) } ?? .null,
            "scopes": .array(principal.scopes.map { .string($0) }),
            "expires": .string(Timestamp(milliseconds: principal.expiry * 1000).text),
        ]
        // A server with one provider answers as it did before there were several.
        if let source = principal.source { body["source"] = .string(source) }
        return .ready(TaskHandlers.json(JSONValue.object(body).serialized()))
    }
}
