import Basics

/// The tasks of one answer, rendered one by one; the page alone says when it is full.
///
/// A page ends at a number of entries or of bytes. Beyond ``AnswerMemory/unplaced`` bytes a page needs a place.
package struct TaskPage: Sendable {
    private let owner: Owner
    private let memory: AnswerMemory
    private let most: Int
    /// The number of tasks and of other entries.
    package private(set) var count = 0
    private var rendering: TaskRendering
    /// The bytes that the answer takes beside its tasks.
    private var others = 0
    private var place: AnswerPlace?
    /// The id of the last task.
    package private(set) var last: Int64?
    private var next: Int64?

    /// A page of this owner's tasks, at most `most` (nil: any number), with a place of this memory if it gets long.
    package init(
        of owner: Owner, _ names: TaskNames = .both, atMost most: Int?, in memory: AnswerMemory,
        at place: AnswerPlace? = nil
    ) {
        self.owner = owner
        self.memory = memory
        self.most = most ?? .max
        self.place = place
        rendering = TaskRendering(owner: owner, names, capacity: 4096)
        rendering.append("[")
    }

    /// Appends the task after the last one; returns false if the page is full.
    package mutating func append(_ item: TaskItem) throws(StoreError) -> Bool {
        guard count < most else { return end() }
        let texts = EscapedTexts(of: item)
        guard try hasRoom(for: rendering.size(of: texts)) else { return end() }
        if rendering.bytes.count > 1 { rendering.append(",") }
        rendering.append(item, texts)
        count += 1
        last = item.id
        return true
    }

    /// Counts an entry that the answer has beside its tasks; returns false if the page is full.
    package mutating func count(other bytes: Int) throws(StoreError) -> Bool {
        guard count < most, try hasRoom(for: bytes) else { return end() }
        count += 1
        others += bytes
        return true
    }

    private mutating func end() -> Bool {
        next = last
        return false
    }

    /// Whether so many bytes more fit, or are the first; takes a place, and lets the buffer grow, if that is needed.
    private mutating func hasRoom(for more: Int) throws(StoreError) -> Bool {
        // The 2 bytes are a comma before the entry, and the end of the list.
        let needed = rendering.bytes.count + others + more + 2
        guard needed <= memory.pageSize || count == 0 else { return false }
        if needed > AnswerMemory.unplaced, place == nil {
            place = memory.place(for: owner)
            guard place != nil else { throw .noRoomForAnswer }
        }
        // The buffer doubles, but not beyond the size of a page.
        let capacity = rendering.bytes.capacity
        if needed > capacity { rendering.reserve(max(needed, min(2 * capacity, memory.pageSize))) }
        return true
    }

    /// The tasks of an answer that says in its own way what follows them.
    package consuming func tasks() -> TaskList {
        next = nil
        return list()
    }

    /// The list, with the place of a long answer.
    package consuming func list() -> TaskList {
        rendering.append("]")
        guard rendering.bytes.count + others <= AnswerMemory.unplaced else {
            return TaskList(json: rendering.bytes, rendering.names, next: next, place: place)
        }
        // Stores cache many lists, so a list keeps no unused memory.
        var json: [UInt8] = []
        json.reserveCapacity(rendering.bytes.count)
        json.append(contentsOf: rendering.bytes)
        return TaskList(json: json, rendering.names, next: next, place: nil)
    }
}

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
    /// The task as the API shows it: one line, old and new names of old values, `date` the time of creation.
    package func json(_ names: TaskNames) -> [UInt8] {
        let texts = EscapedTexts(of: self)
        var rendering = TaskRendering(owner: owner, names, capacity: 242 + 2 * owner.identifier.utf8.count + texts.size)
        rendering.append(self, texts)
        return rendering.bytes
    }
}

/// The names under which clients get the old values of a task.
package enum TaskNames: Sendable, Hashable {
    /// The name in the contract and the one that clients of the samples read (docs/internals/clients.md, "Answers").
    case both
    /// Only the name in the contract, for readers that do not distinguish `owner` from `Owner`.
    case one
}

/// Writes tasks as the API shows them, one line of JSON.
///
/// Most values occur twice, under the name that the old clients read and under the new one, so each value is prepared
/// once and appended twice. Texts are escaped only as far as RFC 8259 section 7 demands.
struct TaskRendering {
    private(set) var bytes: [UInt8] = []
    let names: TaskNames
    /// The owner's members, rendered: in a list they are the same in every task.
    private let ownerMembers: [UInt8]

    init(owner: Owner, _ names: TaskNames, capacity: Int) {
        self.names = names
        let name = JSONEscapedText(owner.identifier)
        var members: [UInt8] = []
        members.reserveCapacity(40 + 2 * owner.identifier.utf8.count)
        members.append(contentsOf: #","owner":""#.utf8)
        name.append(to: &members)
        if names == .both {
            members.append(contentsOf: #"","Owner":""#.utf8)
            name.append(to: &members)
        }
        members.append(contentsOf: #"","task":""#.utf8)
        ownerMembers = members
        bytes.reserveCapacity(capacity)
    }

    /// The most bytes that a task with these texts takes.
    func size(of texts: EscapedTexts) -> Int { 212 + ownerMembers.count + texts.size }

    /// Gives the buffer a capacity of at least this many bytes.
    mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ item: TaskItem, _ texts: EscapedTexts) {
        let text = texts.text
        appendIdentifier(item.id)
        bytes.append(contentsOf: ownerMembers)
        text.append(to: &bytes)
        if names == .both {
            bytes.append(contentsOf: #"","Text":""#.utf8)
            text.append(to: &bytes)
            bytes.append(contentsOf: (item.completed ? Self.completed : Self.open).utf8)
        } else {
            bytes.append(contentsOf: #"","completed":\#(item.completed),"date":""#.utf8)
        }
        Timestamp(milliseconds: item.created).append(to: &bytes)
        bytes.append(contentsOf: #"","DateModified":""#.utf8)
        Timestamp(milliseconds: item.modified).append(to: &bytes)
        bytes.append(contentsOf: #"","revision":"#.utf8)
        bytes.append(contentsOf: String(item.revision).utf8)
        if !texts.details.isEmpty { bytes.append(contentsOf: texts.details) }
        bytes.append(UInt8(ascii: "}"))
    }

    private static let completed = #"","completed":true,"Completed":true,"date":""#
    private static let open = #"","completed":false,"Completed":false,"date":""#

    private mutating func appendIdentifier(_ id: Int64) {
        let digits = String(id).utf8
        bytes.append(contentsOf: #"{"Id":"#.utf8)
        bytes.append(contentsOf: digits)
        guard names == .both else { return }
        bytes.append(contentsOf: #","TaskID":"#.utf8)
        bytes.append(contentsOf: digits)
    }

    mutating func append(_ punctuation: Unicode.Scalar) {
        bytes.append(UInt8(ascii: punctuation))
    }
}
