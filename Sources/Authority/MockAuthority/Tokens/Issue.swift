/// Everything that goes into the tokens of one answer.
struct Issue: Sendable {
    /// For whom.
    var user: User
    /// To whom.
    var client: Client
    /// Under which policy.
    var policy: Policy
    /// What was asked for and granted.
    var scope: Scope
    /// When the person signed in, and for which request.
    var sign: SignIn
    /// Now, in seconds since 1970.
    var now: Int64

    /// The circumstances of a sign-in.
    struct SignIn: Sendable, Equatable {
        /// When, in seconds since 1970.
        var time: Int64
        /// The nonce of the authorization request, unmodified.
        var nonce: String?
        /// Whether the account was made by it.
        var newUser = false
        /// Whether the password grant was used, which is said in `idp`.
        var local = false
    }
}
