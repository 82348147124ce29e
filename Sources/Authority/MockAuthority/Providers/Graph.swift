import Basics
import HTTP
import JSON

/// A call of Microsoft Graph by a library for sign-in, about the person of a token for Graph.
///
/// Other calls are not played (docs/reproduced.md, "Microsoft Graph").
struct GraphCall: Sendable {
    enum Resource: String, Sendable {
        case userInfo, me, photo, groups, groupIDs

        /// The scopes of which the token must have one.
        fileprivate var scopes: [String] {
            ["User.Read", "User.ReadWrite", "User.Read.All", "Directory.Read.All"]
                + (self == .userInfo ? ["openid"] : [])
        }
    }

    let head: RequestHead
    let base: String
    /// The tenants of External ID and Entra, each as it is in the test run.
    let tenants: [(authority: TenantAuthority, run: TestRun)]

    /// Graph answers pages of every origin.
    func answer(about resource: Resource) async -> Response {
        let fields: FieldLines = [
            "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization, content-type",
        ]
        if head.method == .options { return Response(204, headers: fields) }
        do throws(GraphError) {
            return Response.json(try await value(of: resource), headers: fields)
        } catch {
            var response = Response.json(error.json, status: error.status, headers: fields)
            if error.status == 401 {
                response.headers.append(
                    "WWW-Authenticate", "Bearer realm=\"\", authorization_uri=\"\(base)/common/oauth2/authorize\"")
            }
            return response
        }
    }

    private func value(of resource: Resource) async throws(GraphError) -> JSONValue {
        let (user, claims, tenant) = try await person()
        let scopes = (claims["scp"]?.string ?? "").spaceSeparated
        guard scopes.contains(where: resource.scopes.contains) else { throw .forbidden }
        // The subject is that of the ID token, which is pairwise (OpenID Connect Core 5.3.2).
        let application = (claims["appid"] ?? claims["azp"])?.string ?? ""
        let values: JSONObject = [
            "{sub}": .string(EntraClaims.subject(of: user.objectID, for: application, in: tenant)),
            "{id}": .string(user.objectID), "{name}": .string(user.name.display),
            "{family}": .nonEmpty(user.name.family) ?? .null, "{given}": .nonEmpty(user.name.given) ?? .null,
            "{mail}": .string(user.email), "{email}": scopes.contains("email") ? .string(user.email) : .null,
            "{photo}": .string("\(base)/v1.0/me/photo/$value"),
            "{groupIDs}": .array(user.groups.map { .string($0) }),
            "{groups}": .array(user.groups.map { ["@odata.type": "#microsoft.graph.group", "id": .string($0)] }),
        ]
        guard let answer = Self.answers[resource.rawValue] else { throw .noPhoto }
        return answer.filled(with: values)
    }

    /// The answers, with names in braces in the places of facts about the person.
    fileprivate static let answers = (try? JSONValue(parsing: PackageResources.graph_json))?.object ?? JSONObject()

    /// The person of the bearer token, with the claims of the token.
    private func person() async throws(GraphError) -> (User, JSONObject, Tenant) {
        let words = head.headers["Authorization"]?.spaceSeparated ?? []
        guard words.count == 2, words[0].isEqualIgnoringCase(to: "bearer") else { throw .noToken }
        for (authority, run) in tenants {
            let tenant = authority.configuration.tenant
            guard let claims = await authority.keys(in: run).claims(of: words[1], asGraph: true),
                claims["tid"]?.string == tenant.id
            else { continue }
            guard claims["aud"]?.string == EntraHost.graphID else { throw .wrongAudience }
            guard (claims["exp"]?.integer ?? 0) > authority.now(in: run) else { throw .expired }
            if let user = claims["oid"]?.string.flatMap({ run.directory.user($0) }) { return (user, claims, tenant) }
        }
        throw .unknownToken
    }
}

/// A refusal of Microsoft Graph, whose code and message Static/graph.json has.
enum GraphError: String, Error {
    case noToken, unknownToken, wrongAudience, expired, forbidden, noPhoto

    fileprivate var status: Status { self == .forbidden ? 403 : self == .noPhoto ? 404 : 401 }
    fileprivate var json: JSONValue { ["error": GraphCall.answers["errors"]?.object?[rawValue]] }
}
