/// The namespaces of the owners who have tasks (P-17).
package struct OwnerNamespaces: Sendable, Equatable {
    /// The names of sources, in the order of their bytes.
    package let names: [String]
    /// Whether an owner without a namespace has tasks.
    package let hasBare: Bool

    /// Those of these owners, of whom there may be several in a namespace.
    package init(_ owners: some Sequence<Owner>) {
        let found = owners.map(\.namespace)
        names = Set(found.compactMap(\.self)).sorted()
        hasBare = found.contains(nil)
    }
}

extension Owner {
    /// The name of the source that the owner belongs to, before the first colon (P-14); nil for an owner without one.
    ///
    /// Names of sources have 1 to 16 characters of `a-z`, `0-9` and `-`, so that no GUID looks like one.
    package var namespace: String? {
        guard let name = textBeforeColon, (1...16).contains(name.utf8.count) else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        return isName ? name : nil
    }

    /// What comes before the first colon; nil without one.
    package var textBeforeColon: String? {
        identifier.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(identifier[..<$0]) }
    }
}
