/// Writes tasks as the API shows them, one line of JSON.
///
/// Every value stands twice, under the name that the old clients read and under the new one; so each is prepared once
/// and appended twice. Only what RFC 8259 section 7 demands is escaped.
struct TaskRendering {
    private(set) var bytes: [UInt8] = []
    /// The owner's two members, ready: in a list they are the same in every task.
    private let ownerMembers: [UInt8]

    init(owner: Owner, capacity: Int) {
        let name = EscapedText(owner.identifier)
        var members: [UInt8] = []
        members.reserveCapacity(40 + 2 * owner.identifier.utf8.count)
        members.append(contentsOf: #","owner":""#.utf8)
        name.append(to: &members)
        members.append(contentsOf: #"","Owner":""#.utf8)
        name.append(to: &members)
        members.append(contentsOf: #"","task":""#.utf8)
        ownerMembers = members
        bytes.reserveCapacity(capacity)
    }

    /// What a task with this text takes at most.
    func size(of text: EscapedText) -> Int { 180 + ownerMembers.count + 2 * text.count }

    /// Makes the buffer one of at least this many bytes.
    mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ item: TaskItem, _ text: EscapedText) {
        appendIdentifier(item.id)
        bytes.append(contentsOf: ownerMembers)
        text.append(to: &bytes)
        bytes.append(contentsOf: #"","Text":""#.utf8)
        text.append(to: &bytes)
        bytes.append(contentsOf: (item.completed ? Self.completed : Self.open).utf8)
        Timestamp(milliseconds: item.created).append(to: &bytes)
        bytes.append(contentsOf: #"","DateModified":""#.utf8)
        Timestamp(milliseconds: item.modified).append(to: &bytes)
        bytes.append(contentsOf: #""}"#.utf8)
    }

    private static let completed = #"","completed":true,"Completed":true,"date":""#
    private static let open = #"","completed":false,"Completed":false,"date":""#

    private mutating func appendIdentifier(_ id: Int64) {
        let digits = String(id).utf8
        bytes.append(contentsOf: #"{"Id":"#.utf8)
        bytes.append(contentsOf: digits)
        bytes.append(contentsOf: #","TaskID":"#.utf8)
        bytes.append(contentsOf: digits)
    }

    mutating func append(_ punctuation: Unicode.Scalar) {
        bytes.append(UInt8(ascii: punctuation))
    }
}

/// The inside of a JSON string; most texts need no escape and are copied whole.
enum EscapedText {
    case plain(String)
    case escaped([UInt8])

    /// In bytes.
    var count: Int {
        switch self {
        case .plain(let text): text.utf8.count
        case .escaped(let escaped): escaped.count
        }
    }

    init(_ text: String) {
        self = text.utf8.span.contains(Self.needsEscape) ? .escaped(Self.escape(text)) : .plain(text)
    }

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .plain(let text): bytes.append(contentsOf: text.utf8)
        case .escaped(let escaped): bytes.append(contentsOf: escaped)
        }
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if needsEscape(byte) { append(escaped: byte, to: &bytes) } else { bytes.append(byte) }
        }
        return bytes
    }

    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            bytes.append(contentsOf: String(byte & 15, radix: 16).utf8)
        default: bytes.append(byte)
        }
    }
}
