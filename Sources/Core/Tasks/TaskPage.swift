import Basics

/// A list that is made task by task in leased memory, and ends at a number of tasks or of bytes.
package struct TaskPage {
    private let owner: Owner
    private let memory: AnswerMemory
    private let rows: Int
    package private(set) var count = 0
    private var rendering: TaskRendering
    private var lease: AnswerLease?
    private var last: Int64?
    private var next: Int64?

    /// A page of this owner's tasks, at most `rows` (nil: any number), with memory from this one.
    package init(of owner: Owner, atMost rows: Int?, in memory: AnswerMemory) {
        self.owner = owner
        self.memory = memory
        self.rows = rows ?? .max
        rendering = TaskRendering(owner: owner, capacity: 4096)
        rendering.append("[")
    }

    /// Appends the task after the last one; returns false if the page is full.
    package mutating func append(_ item: TaskItem) throws(StoreError) -> Bool {
        guard count < rows, rendering.bytes.count < memory.pageSize || count == 0 else {
            next = last
            return false
        }
        let texts = EscapedTexts(of: item)
        try makeRoom(for: rendering.size(of: texts))
        if count > 0 { rendering.append(",") }
        rendering.append(item, texts)
        count += 1
        last = item.id
        return true
    }

    /// Grows the buffer so that this many bytes more, and the two around them, cannot make it grow by itself.
    private mutating func makeRoom(for more: Int) throws(StoreError) {
        let capacity = rendering.bytes.capacity
        let needed = rendering.bytes.count + more + 2
        guard needed > capacity else { return }
        // The buffer doubles, but not beyond the size of a full page.
        let wanted = max(needed, min(2 * capacity, memory.pageSize + AnswerMemory.unleased))
        guard wanted > AnswerMemory.unleased else { return rendering.reserve(wanted) }
        // The old buffer exists until it is copied.
        if let lease {
            guard lease.resize(to: capacity + wanted) else { throw .noRoomForAnswer(bytes: capacity + wanted) }
        } else {
            guard let lease = memory.lease(capacity + wanted, for: owner) else {
                throw .noRoomForAnswer(bytes: capacity + wanted)
            }
            self.lease = lease
        }
        rendering.reserve(wanted)
        // Allocators round up, by less than a page.
        _ = lease?.resize(to: wanted)
    }

    /// The list, with the lease of its memory if it is long; an equal one that is being sent lends its own.
    package consuming func list() -> TaskList {
        rendering.append("]")
        guard rendering.bytes.count <= AnswerMemory.unleased else {
            return memory.shared(TaskList(json: rendering.bytes, next: next, lease: lease), of: owner)
        }
        // Stores cache many lists, so a list keeps no unused memory.
        var json: [UInt8] = []
        json.reserveCapacity(rendering.bytes.count)
        json.append(contentsOf: rendering.bytes)
        return TaskList(json: json, next: next, lease: nil)
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
    package var json: [UInt8] {
        let texts = EscapedTexts(of: self)
        var rendering = TaskRendering(owner: owner, capacity: 242 + 2 * owner.identifier.utf8.count + texts.size)
        rendering.append(self, texts)
        return rendering.bytes
    }
}

/// Writes tasks as the API shows them, one line of JSON.
///
/// Most values occur twice, under the name that the old clients read and under the new one, so each is prepared once and
/// appended twice. Only what RFC 8259 section 7 demands is escaped.
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
    func size(of texts: EscapedTexts) -> Int { 212 + ownerMembers.count + texts.size }

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
        bytes.append(contentsOf: #","TaskID":"#.utf8)
        bytes.append(contentsOf: digits)
    }

    mutating func append(_ punctuation: Unicode.Scalar) {
        bytes.append(UInt8(ascii: punctuation))
    }
}
