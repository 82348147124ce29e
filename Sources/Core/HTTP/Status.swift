/// A status code of an answer (RFC 9110 section 15).
package struct Status: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The three digits.
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }
    package init(integerLiteral value: Int) { self.rawValue = value }
}
