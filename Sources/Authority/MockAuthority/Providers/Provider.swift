import Basics
import HTTP
import JSON
import OpenSSL

/// One of the providers that the mock plays, for one tenant: everything that the provider does in its own way.
///
/// The common flow (authorize, sign-in pages, code, tokens, refresh, logout, key set) asks the provider. The answers in
/// the extension below hold for providers that do not give another one.
protocol Provider: Sendable {
    var configuration: Configuration { get }
    var traits: ProviderTraits { get }

    // MARK: Addresses

    /// The endpoints, by their paths after the tenant and the policy.
    var routes: [AuthorityRoute<RequestContext>] { get }

    /// What a path names at a host if it is one of this tenant; `b2c` is the tenant of the policies.
    func place(of target: RequestTarget, at host: String, beside b2c: Tenant) -> Place?

    /// The answer to a request without a tenant, policy or endpoint; `nil` if the host is another service's.
    func notFound(_ head: RequestHead, at base: String, now: Int64) -> Response?

    // MARK: Documents

    /// The discovery document; version 1 is that of older tokens, which only Entra has.
    func metadata(version: Int, _ context: RequestContext) -> JSONValue

    func keySet(version: Int, _ context: RequestContext) async throws(PrivateKeyError) -> JSONValue

    /// The fields of both documents, which a page of any origin may read.
    var documentFields: FieldLines { get }

    // MARK: Errors

    /// The words of a refusal (RFC 6749 sections 4.1.2.1 and 5.2).
    func words(of refusal: Refusal, _ context: RequestContext) -> RefusalWords

    /// The answer of the token endpoint.
    func response(_ refusal: Refusal, _ context: RequestContext) -> Response

    // MARK: Authorization requests

    /// Refuses a request for what the service does not support, before everything else is looked at.
    func checkSupport(_ parameters: Parameters) throws(Refusal)

    /// Checks and reads what only this provider understands.
    func read(
        _ parameters: Parameters, for types: Set<ResponseType>, into options: inout AuthorizationRequest.Options
    ) throws(Refusal)

    /// The name of the cookie in which a browser keeps who signed in.
    var sessionCookie: String { get }

    // MARK: Tokens

    func issuer(of policy: Policy, at base: String) -> String

    func claims(of granted: GrantedRequest, at base: String) -> any TokenClaims

    /// The APIs, each with what its scope tokens begin with.
    var resources: [(resource: Resource, prefixes: [String])] { get }

    func isSameScope(_ registered: String, _ asked: String) -> Bool

    /// Why a scope token without an API is refused; `nil` if it is ignored.
    func refusal(ofScope word: String, _ client: Client) -> Refusal?

    func allowsPasswordGrant(_ policy: Policy) -> Bool

    /// A token of the application itself (RFC 6749 section 4.4).
    func clientCredentials(
        _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> JSONValue

    /// The response to a grant type that only this provider has; `nil` for another type.
    func grant(
        _ type: String, _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> TokenResponse?

    /// The members of a token response in the order of the service; `clientInfo` says whether the client sent
    /// `client_info=1`.
    func members(of response: TokenResponse, clientInfo: Bool) -> JSONObject

    /// The `uid` of an account for the cache of MSAL.
    func accountID(_ granted: GrantedRequest) -> String

    /// The answer of the user information endpoint to a token with these claims.
    func userInfo(_ user: User, _ claims: JSONObject, _ context: RequestContext) throws(BearerRefusal) -> JSONObject
}

extension Provider {
    var tenant: Tenant { configuration.tenant }

    func response(_ refusal: Refusal, _ context: RequestContext) -> Response {
        context.refused(context.words(of: refusal), 400)
    }

    func checkSupport(_ parameters: Parameters) throws(Refusal) {}

    func read(
        _ parameters: Parameters, for types: Set<ResponseType>, into options: inout AuthorizationRequest.Options
    ) throws(Refusal) {}

    var sessionCookie: String { "ESTSAUTHPERSISTENT:\(tenant.id)" }
    var resources: [(resource: Resource, prefixes: [String])] {
        configuration.applications.resources.map { ($0, ["\($0.identifier)/"]) }
    }

    func isSameScope(_ registered: String, _ asked: String) -> Bool { registered.isSame(as: asked) }

    func allowsPasswordGrant(_ policy: Policy) -> Bool { policy.allowsPasswordGrant }

    func grant(
        _ type: String, _ context: RequestContext, _ parameters: Parameters, _ client: Client
    ) async throws(Refusal) -> TokenResponse? { nil }

    func accountID(_ granted: GrantedRequest) -> String { granted.user.objectID }

    /// The names that custom policies of B2C use; Entra has no such endpoint.
    func userInfo(_ user: User, _ claims: JSONObject, _ context: RequestContext) throws(BearerRefusal) -> JSONObject {
        [
            "objectId": .string(user.objectID), "givenName": .string(user.name.given),
            "surname": .string(user.name.family), "displayName": .string(user.name.display),
            "signInNames.emailAddress": .string(user.email),
        ]
    }
}

/// The values of `error`, `error_description` and, in a redirect, `error_subcode` and `error_uri`.
typealias RefusalWords = (error: String, subcode: String?, description: String, page: String?)

/// The small differences between the providers.
struct ProviderTraits: Sendable {
    let title: String
    /// The values of `prompt` beside those of the standard.
    var prompts: [String] = []
    var takesSeveralPrompts = false
    /// Whether redirect URIs must be sent, and be as they are registered, also at the end of a session.
    var matchesRedirectURIsExactly = false
    /// Whether a redirect URI that is not registered is reported to one that is.
    var reportsToRegisteredURI = false
    /// Whether a person with several sessions chooses among them.
    var hasManySessions = true
    /// Whether nobody but the person of `id_token_hint` may sign in on the page.
    var insistsOnHint = false
    /// Whether the pages have the settings, cookies and buttons of B2C's page.
    var hasPageOfB2C = false
    /// Whether a client asks for a token for itself by its id.
    var takesClientForScope = false
    /// Whether codes and refresh tokens are held to their request: no verifier without a challenge, and no wider scope.
    var holdsGrantsToRequest = false
    /// Whether the user information endpoint takes the token from a form too.
    var takesTokenInForm = false
    var headerBeginsWithAlgorithm = false
    /// Whether answers name the request and the server, as Entra's do.
    var namesRequest = false
    /// Whether a page and another client cannot redeem each other's codes.
    var tellsPagesByOrigin = false
    /// Whether people and administrators consent to the scopes of clients.
    var asksForConsent = false
    /// Whether an authorization request may name several APIs, of which a token request names one.
    var authorizesSeveralAPIs = false
    /// The lifetime of refresh tokens in seconds, except those of pages.
    var refreshLifetime: Int64 = 1_209_600
    /// The seconds after a sign-in at which all its refresh tokens end.
    var refreshWindow = Int64.max / 2
    /// The scope tokens that belong to no API.
    var standardScopes = ["openid", "offline_access", "profile", "email"]
    var personClaim = "oid"
    var scopeClaim = "scp"
    /// `typ` in the header of access tokens.
    var accessTokenType = "JWT"
}

/// Builds the claims of the tokens of a granted request, in the order of one of the services.
protocol TokenClaims: Sendable {
    var granted: GrantedRequest { get }
    var lifetime: Int64 { get }

    func accessToken(audience: String) -> JSONObject

    /// The access token that the granted scope asks for; `nil` if it asks for none.
    func accessToken(signedBy signer: TokenSigner) throws(PrivateKeyError) -> String?

    /// The claims of an ID token, with the hashes of the access token and the code of the same response.
    func idToken(for accessToken: String?, code: String?) -> JSONObject

    /// The claims of the ID token that the token endpoint gives; `nil` if the scope asks for none.
    func idToken(ofTokenEndpoint accessToken: String?, _ era: Era) -> JSONObject?
}

extension TokenClaims {
    func idToken(ofTokenEndpoint accessToken: String?, _ era: Era) -> JSONObject? {
        granted.scope.openID ? idToken(for: accessToken, code: nil) : nil
    }
}

extension Configuration {
    /// The provider that the tenant plays: the one place that tells the profiles apart for the common flow.
    var provider: any Provider {
        switch profile {
        case .b2c: AzureADB2C(configuration: self)
        case .externalID: ExternalID(configuration: self)
        case .entra: EntraID(configuration: self)
        case .strict: StrictProvider(configuration: self)
        }
    }
}
