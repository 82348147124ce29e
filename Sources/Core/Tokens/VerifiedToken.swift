/// A token that passed every check, as a cache may keep it.
///
/// A cache compares the times at each use (V-104), and must know itself whether the key is still trusted (V-103).
package struct VerifiedToken: Sendable, Equatable {
    package let principal: Principal
    /// The first second since 1970 at which the token is accepted, with the clock skew.
    package let usableFrom: Int64
    /// The first second since 1970 at which the token is no longer accepted, with the clock skew.
    package let usableUntil: Int64

    /// Returns whether a new verification would accept the times at this second since 1970 (V-104).
    package func isUsable(at second: Int64) -> Bool {
        usableFrom <= second && second < usableUntil
    }
}
