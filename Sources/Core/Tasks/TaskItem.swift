import Basics

/// One task of one owner.
package struct TaskItem: Sendable, Equatable {
    /// Counted from 1 for each owner; never reused.
    package let id: Int64
    package let owner: Owner
    package var text: TaskText
    package var completed: Bool
    /// The time at which the task was added, in milliseconds since 1970, UTC.
    package let created: Int64
    /// The time of the addition or the last change, in milliseconds since 1970, UTC.
    package var modified: Int64
    /// Incremented by every change, from 1 (``Swift/Int64/nextRevision``); with the id it makes the entity tag.
    package var revision: Int64
    package var details: TaskDetails

    package init(
        id: Int64, owner: Owner, text: TaskText, completed: Bool = false, created: Int64, modified: Int64,
        revision: Int64 = 1, details: TaskDetails = TaskDetails()
    ) {
        self.id = id
        self.owner = owner
        self.text = text
        self.completed = completed
        self.created = created
        self.modified = modified
        self.revision = revision
        self.details = details
    }
}

/// The owner of tasks: the value of the owner claim of a verified token, after the namespace of the token's source, if
/// any (V-57, V-58, P-14).
package struct Owner: Hashable, Sendable {
    package let identifier: String
    /// The hash of the identifier, made once, because an addition is looked up by its owner eight times.
    private let hash: Int

    package init(_ identifier: String) {
        self.identifier = identifier
        hash = identifier.hashValue
    }

    /// Equality of bytes, as in the databases.
    ///
    /// The standard library treats NFC and NFD as equal, so two owners could share cached lists. Equal bytes have equal
    /// hashes, so the hash can be the string's.
    package static func == (left: Owner, right: Owner) -> Bool {
        left.identifier.isSame(as: right.identifier)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
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

/// The text of a task: 1 to 4096 bytes of UTF-8, kept and compared byte for byte, without U+0000.
///
/// SQLite keeps U+0000 and PostgreSQL refuses it. U+0000 is refused here, so that both stores behave alike.
package struct TaskText: Hashable, Sendable {
    package let value: String

    package enum Failure: Error, Equatable, Sendable {
        case empty
        case tooLong(bytes: Int)
        case containsNUL
    }

    /// The longest text, in bytes.
    package static let longest = 4096

    package init(_ value: String) throws(Failure) {
        guard !value.isEmpty else { throw .empty }
        guard value.utf8.count <= Self.longest else { throw .tooLong(bytes: value.utf8.count) }
        guard !value.containsNUL else { throw .containsNUL }
        self.value = value
    }

    /// Equality of bytes, because the standard library treats NFC and NFD as equal.
    ///
    /// Equal bytes have equal hashes, so the hash can be the string's.
    package static func == (left: TaskText, right: TaskText) -> Bool {
        left.value.isSame(as: right.value)
    }
}

extension TaskItem {
    /// The strong entity tag of this state of the task, in quotes: `"7.1"`, id and revision (RFC 9110 section 8.8.3).
    ///
    /// An answer with one name has another tag, `"7.1-one"`; `If-Match` takes every tag of the revision alike.
    package func entityTag(_ names: TaskNames) -> String {
        "\"\(id).\(revision)\(names == .both ? "" : "-one")\""
    }

    /// The revisions of the task `id` that a field `If-Match` asks for; nil if any will do (`*`).
    ///
    /// A tag counts by the revision in it, although RFC 9110 section 13.1.1 asks for equal strong tags: proxies that
    /// compress weaken a tag (`W/"7.1"`) or name the coding in it or behind it (docs/connect-a-client.md). Tags of
    /// other tasks and anything else name no revision, so the set may be empty, and then no change is possible.
    package static func revisions(ifMatch field: String, of id: Int64) -> Set<Int64>? {
        let members = field.split(separator: ",").map { $0.trimmingBlanks }
        guard !members.contains("*") else { return nil }
        return Set(members.compactMap { revision(of: $0.utf8, task: id) })
    }

    /// The revision in a tag; what follows the revision is no letter and no digit, and has the closing quote.
    private static func revision(of tag: Substring.UTF8View, task id: Int64) -> Int64? {
        let opaque = tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
        let prefix = "\"\(id)."
        guard opaque.starts(with: prefix.utf8) else { return nil }
        let rest = opaque.dropFirst(prefix.utf8.count)
        let digits = String(Substring(rest.prefix { $0.isDecimalDigit }))
        let suffix = rest.dropFirst(digits.utf8.count)
        guard let first = suffix.first, !first.isLetterOrDigit, suffix.count(where: { $0 == UInt8(ascii: "\"") }) == 1,
            let revision = Int64(digits), revision > 0, String(revision) == digits
        else { return nil }
        return revision
    }
}

/// A tag of 64 bits that depends on nothing but the bytes, so every machine gives the same.
///
/// Eight bytes a step are multiplied into the state at full width and folded, as in wyhash. The tag does not resist a
/// search for collisions, by which a person would only hide a change of their own list from themselves.
struct StrongEntityTag {
    let text: String

    /// The tag of these bytes; a list that continues on another page has another tag, which no suffix of a proxy makes.
    init(of bytes: [UInt8], isWhole: Bool = true) {
        text = "\"\(isWhole ? "" : "-")\(Self.digest(bytes.span).hexadecimal)\""
    }

    private static let first: UInt64 = 0xA076_1D64_78BD_642F
    private static let second: UInt64 = 0xE703_7ED1_A0B4_28DB

    private static func digest(_ bytes: Span<UInt8>) -> UInt64 {
        var state = first ^ UInt64(bytes.count)
        let whole = bytes.count & ~7
        for index in stride(from: 0, to: whole, by: 8) {
            state = fold(state ^ word(in: bytes.extracting(index..<(index + 8))), second)
        }
        if whole < bytes.count { state = fold(state ^ word(in: bytes.extracting(whole...)), second) }
        return fold(state ^ second, first)
    }

    /// Up to eight bytes as an integer, the first byte lowest; missing bytes count as zero.
    @inline(__always)
    private static func word(in bytes: Span<UInt8>) -> UInt64 {
        var word: UInt64 = 0
        for index in bytes.indices { word |= UInt64(bytes[index]) << UInt64(8 * index) }
        return word
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
