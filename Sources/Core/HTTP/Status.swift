/// A status code of an answer (RFC 9110 section 15).
public struct Status: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The three digits.
    public let rawValue: Int

    /// The status of this code.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The status of this code.
    public init(integerLiteral value: Int) { self.rawValue = value }
}
