/// The owner of tasks: the `oid` of a verified token, folded to lower case (V-57, V-58).
package struct Owner: Hashable, Sendable {
    package let identifier: String

    package init(_ identifier: String) {
        self.identifier = identifier
    }

    /// Equality of bytes, as in the databases.
    ///
    /// The standard library takes NFC for NFD: then two owners by another claim than `oid` could share
    /// what is cached for them. Equal bytes have equal hashes, so the hash can be the string's.
    package static func == (left: Owner, right: Owner) -> Bool {
        let (mine, theirs) = (left.identifier.utf8.span, right.identifier.utf8.span)
        guard mine.count == theirs.count else { return false }
        for index in mine.indices where mine[index] != theirs[index] { return false }
        return true
    }
}

extension Owner: Comparable {
    /// The order of bytes, as in the databases.
    ///
    /// All who lock several owners do it in this order: else two of them could wait for each other.
    package static func < (left: Owner, right: Owner) -> Bool {
        left.identifier.utf8.lexicographicallyPrecedes(right.identifier.utf8)
    }
}
