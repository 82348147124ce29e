import Basics

/// The texts of a task, escaped once for their size and for writing.
struct EscapedTexts {
    let text: JSONEscapedText
    /// The members of the details.
    let details: [UInt8]

    init(of item: TaskItem) {
        text = JSONEscapedText(item.text.value)
        details = item.details.json
    }

    /// The number of bytes that the texts take.
    var size: Int { 2 * text.count + details.count }
}

extension TaskItem {
    /// The task as the API shows it: one line, old and new names of every value, `date` the time of creation.
    package var json: [UInt8] {
        let texts = EscapedTexts(of: self)
        var rendering = TaskRendering(owner: owner, capacity: 210 + 2 * owner.identifier.utf8.count + texts.size)
        rendering.append(self, texts)
        return rendering.bytes
    }
}

/// Writes tasks as the API shows them, one line of JSON.
///
/// Every value occurs twice, under the name that the old clients read and under the new one, so each value is prepared
/// once and appended twice. Only what RFC 8259 section 7 demands is escaped.
struct TaskRendering {
    private(set) var bytes: [UInt8] = []
    /// The owner's two members, rendered: in a list they are the same in every task.
    private let ownerMembers: [UInt8]

    init(owner: Owner, capacity: Int) {
        let name = JSONEscapedText(owner.identifier)
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

    /// The most bytes that a task with these texts takes.
    func size(of texts: EscapedTexts) -> Int { 180 + ownerMembers.count + texts.size }

    /// Gives the buffer a capacity of at least this many bytes.
    mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ item: TaskItem, _ texts: EscapedTexts) {
        let text = texts.text
        appendIdentifier(item.id)
        bytes.append(contentsOf: ownerMembers)
        text.append(to: &bytes)
        bytes.append(contentsOf: #"","Text":""#.utf8)
        text.append(to: &bytes)
        bytes.append(contentsOf: (item.completed ? Self.completed : Self.open).utf8)
        Timestamp(milliseconds: item.created).append(to: &bytes)
        bytes.append(contentsOf: #"","DateModified":""#.utf8)
        Timestamp(milliseconds: item.modified).append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        if !texts.details.isEmpty { bytes.append(contentsOf: texts.details) }
        bytes.append(UInt8(ascii: "}"))
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
