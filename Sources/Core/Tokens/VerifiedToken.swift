/// A token that passed every check, as a cache may keep it.
///
/// The times are judged again at each use (V-104); whether the key is still trusted is the cache's to know (V-103).
package struct VerifiedToken: Sendable, Equatable {
    /// Who it speaks for.
    package let principal: Principal
    /// The first second at which it is taken, the clock skew included.
    package let usableFrom: Int64
    /// The first second at which it is taken no more, the clock skew included.
    package let usableUntil: Int64

    /// Judges the times again.
    ///
    /// - Parameter now: the wall clock, in seconds since 1970.
    /// - Throws: ``TokenRefusal/expired``, or ``TokenRefusal/notYetValid`` when the clock was set back.
    package func check(now: Int64) throws(TokenRefusal) {
        guard now < usableUntil else { throw .expired }
        guard now >= usableFrom else { throw .notYetValid }
    }
}
