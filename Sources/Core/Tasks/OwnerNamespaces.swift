import Basics

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
    package var namespace: String? { textBeforeColon.flatMap { $0.isSourceName ? $0 : nil } }

    /// What comes before the first colon; nil without one.
    package var textBeforeColon: String? {
        identifier.utf8.firstIndex(of: UInt8(ascii: ":")).map { String(identifier[..<$0]) }
    }
}
