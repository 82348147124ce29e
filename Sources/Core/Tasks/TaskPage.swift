import Basics

/// A list that is made task by task in leased memory, and ends at a number of tasks or of bytes.
package struct TaskPage {
    private let owner: Owner
    private let memory: AnswerMemory
    private let rows: Int
    /// The number of tasks so far.
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
