/// A request for tokens that was granted: everything that goes into the tokens of one response.
struct GrantedRequest: Sendable {
    var user: User
    var client: Client
    var policy: Policy
    var scope: Scope
    var signIn: SignIn
    /// Seconds since 1970.
    var now: Int64
    /// The family of the code or refresh token; `nil` if there is none.
    var family: String?
}

struct SignIn: Sendable, Equatable {
    /// Seconds since 1970.
    var time: Int64
    /// The nonce of the authorization request, unmodified.
    var nonce: String?
    var newUser = false
    /// Whether the password grant was used, which tokens say in `idp`.
    var local = false
    var showsTime = false
    var claims = RequestedClaims()
}
