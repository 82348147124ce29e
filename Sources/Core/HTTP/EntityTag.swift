import Basics

/// A tag for one state of a resource (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Equatable {
    /// Whether equal tags mean equal bytes, or only the same meaning.
    package let isWeak: Bool
    /// The text between the quotes.
    package let opaque: String

    package init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads `"text"` or `W/"text"`.
    package init?(field: String) {
        var rest = Array(field.utf8)[...]
        guard let tag = rest.removeEntityTag(), rest.isEmpty else { return nil }
        self = tag
    }

    /// The tag as a field value.
    package var field: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Equality of meaning (section 8.8.3.2).
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque.isSame(as: other.opaque) }
}

/// The value of `If-None-Match` (RFC 9110 section 13.1.2); for `If-Match` see `TaskItem.revisions(ifMatch:of:)`.
package enum EntityTagCondition: Sendable, Equatable {
    /// `*`: any state at all.
    case any
    case tags([EntityTag])

    /// Reads the field lines of one name together; nothing where the grammar does not allow them.
    package init?(_ values: [String]) {
        var rest = Array(values.joined(separator: ",").utf8)[...]
        rest.dropListSeparators()
        if rest.first == UInt8(ascii: "*") {
            rest.removeFirst()
            rest.dropListSeparators()
            guard rest.isEmpty else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        while !rest.isEmpty {
            guard let tag = rest.removeEntityTag() else { return nil }
            tags.append(tag)
            guard rest.first.map({ $0.isBlank || $0 == UInt8(ascii: ",") }) ?? true else { return nil }
            rest.dropListSeparators()
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether the client has this state already (`If-None-Match`): answer 304.
    package func knows(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func dropListSeparators() {
        while let byte = first, byte.isBlank || byte == UInt8(ascii: ",") { removeFirst() }
    }

    fileprivate mutating func removeEntityTag() -> EntityTag? {
        let isWeak = starts(with: "W/".utf8)
        if isWeak { removeFirst(2) }
        guard popFirst() == UInt8(ascii: "\"") else { return nil }
        guard let end = firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let opaque = self[..<end]
        guard opaque.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }) else { return nil }
        self = self[end...].dropFirst()
        return EntityTag(String(lenient: Array(opaque)), isWeak: isWeak)
    }
}

extension HeaderSection {
    /// The condition of `If-None-Match`; nothing where it is missing or malformed.
    package var ifNoneMatch: EntityTagCondition? {
        contains("If-None-Match") ? EntityTagCondition(values("If-None-Match")) : nil
    }
}
