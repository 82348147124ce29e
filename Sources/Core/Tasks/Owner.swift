import Basics

/// The owner of tasks: the value of the owner claim of a verified token, after the namespace of its source, if that has
/// one (V-57, V-58, P-14).
package struct Owner: Hashable, Sendable {
    package let identifier: String

    package init(_ identifier: String) {
        self.identifier = identifier
    }

    /// Equality of bytes, as in the databases.
    ///
    /// The standard library treats NFC and NFD as equal, so two owners could share cached lists. Equal bytes have equal
    /// hashes, so the hash can be the string's.
    package static func == (left: Owner, right: Owner) -> Bool {
        left.identifier.isSame(as: right.identifier)
    }
}

extension Owner {
    /// The name of the source that the owner belongs to, before the first colon (P-14); nil for an owner without one.
    package var namespace: String? {
        guard let colon = identifier.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(identifier[..<colon])
        return name.isSourceName ? name : nil
    }
}

extension Owner: Comparable {
    /// The order of bytes, as in the databases.
    ///
    /// Whoever locks several owners locks them in this order, so that no two wait for each other.
    package static func < (left: Owner, right: Owner) -> Bool {
        left.identifier.utf8.lexicographicallyPrecedes(right.identifier.utf8)
    }
}
