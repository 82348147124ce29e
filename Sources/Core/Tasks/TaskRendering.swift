import Basics

/// The texts of a task, escaped once for their size and for writing.
struct EscapedTexts {
    let text: JSONEscapedText
    let notes: JSONEscapedText?
    let hasDetails: Bool

    init(of item: TaskItem) {
        text = JSONEscapedText(item.text.value)
        hasDetails = !item.details.isEmpty
        notes = item.details.notes.map { JSONEscapedText($0.value) }
    }

    /// The most bytes that they take, and all that is set of the details with them.
    var size: Int {
        guard hasDetails else { return 2 * text.count }
        // The names and signs of the three, a date, and a number: shorter than 80.
        return 2 * text.count + (notes?.count ?? 0) + 80
    }
}

/// Writes tasks as the API shows them, one line of JSON.
///
/// Every value occurs twice, under the name that the old clients read and under the new one; so each is prepared once
/// and appended twice. Only what RFC 8259 section 7 demands is escaped.
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
        if texts.hasDetails { append(item.details, notes: texts.notes) }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Only what is set, so that a task without it is shown as it always was.
    private mutating func append(_ details: TaskDetails, notes: JSONEscapedText?) {
        if let due = details.due {
            bytes.append(contentsOf: #","due":""#.utf8)
            due.append(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        if let notes {
            bytes.append(contentsOf: #","notes":""#.utf8)
            notes.append(to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        if let position = details.position {
            bytes.append(contentsOf: #","position":"#.utf8)
            bytes.append(contentsOf: position.text.utf8)
        }
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
