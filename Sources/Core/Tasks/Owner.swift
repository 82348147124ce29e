/// Whose tasks: the `oid` of a verified token, folded to lower case (V-57, V-58).
public struct Owner: Hashable, Sendable {
    /// The value of the claim.
    public let identifier: String

    /// The owner of this identifier, which a verified token carried.
    public init(_ identifier: String) {
        self.identifier = identifier
    }

    /// Equality of bytes, as in the databases.
    ///
    /// The standard library takes NFC for NFD: then two people of another claim than `oid` would share what is
    /// remembered under their names. Equal bytes have equal hashes, so the hash can be the string's.
    public static func == (left: Owner, right: Owner) -> Bool {
        left.identifier.utf8.elementsEqual(right.identifier.utf8)
    }
}
