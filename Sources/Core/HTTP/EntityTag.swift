/// A tag for one state of a resource (RFC 9110 section 8.8.3).
package struct EntityTag: Sendable, Equatable {
    /// Whether equal tags mean equal bytes, or only the same meaning.
    package let isWeak: Bool
    /// The text between the quotes.
    package let opaque: String

    /// A tag of these parts.
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

    /// The tag as it stands in a field.
    package var field: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Equality of bytes: neither is weak (section 8.8.3.2).
    package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && matchesWeakly(other) }

    /// Equality of meaning.
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }
}

/// The value of `If-Match` or `If-None-Match` (RFC 9110 section 13.1).
package enum EntityTagCondition: Sendable, Equatable {
    /// `*`: any state at all.
    case any
    /// One of these.
    case tags([EntityTag])

    /// Reads the field lines of one name together; nothing where something else stands than the grammar allows.
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

    /// Whether a change may be made to this state (`If-Match`).
    package func allowsChange(of tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesStrongly(tag) }
        }
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

extension HeaderFields {
    /// The condition of this field: `If-Match` or `If-None-Match`; nothing where it is missing or malformed.
    package func entityTags(_ name: String) -> EntityTagCondition? {
        contains(name) ? EntityTagCondition(values(name)) : nil
    }
}
