/// Whose tasks: the `oid` of a verified token, folded to lower case (V-57, V-58).
public struct Owner: Hashable, Sendable {
    /// The value of the claim.
    public let identifier: String

    /// The owner of this identifier, which a verified token carried.
    public init(_ identifier: String) {
        self.identifier = identifier
    }
}
