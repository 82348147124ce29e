import Basics
import Zlib

/// A list of tasks as the API answers it, rendered once and shared by all readers.
package struct TaskList: Sendable {
    /// The list in JSON: an array of tasks, in one line.
    package let json: [UInt8]
    /// The strong entity tag of these bytes and of whether more tasks follow, in quotes.
    package let entityTag: String
    /// The id of the last task if more follow on another page, else nothing.
    package let next: Int64?
    /// The lease of the memory of a long list, which all holders of the list share.
    package private(set) var lease: AnswerLease?
    /// The list for clients that ask for gzip; nil for a short list.
    package let gzip: GzipForm?

    /// A ``TaskPage`` makes a list from tasks.
    package init(json: [UInt8], entityTag: String, next: Int64? = nil) {
        self.json = json
        self.entityTag = entityTag
        self.next = next
        // Lists are compressed after every change: a tenth fewer bytes are not worth eight times the time.
        gzip = GzipForm(of: json, .fast)
    }

    /// A list with the tag of its bytes.
    package init(json: [UInt8], next: Int64?, lease: AnswerLease?) {
        let tag = StrongEntityTag(of: json, isWhole: next == nil)
        self.init(json: json, entityTag: tag.text, next: next)
        self.lease = lease
    }

    /// An equal list in other memory, with the lease of that memory.
    init(_ list: TaskList, in json: [UInt8], of lease: AnswerLease) {
        self.init(json: json, entityTag: list.entityTag, next: list.next)
        self.lease = lease
    }

    /// The most bytes that the list takes together with its gzip form.
    package var mostBytes: Int { json.capacity + (gzip?.limit ?? 0) }

    /// The same list with this lease, or without one.
    package func holding(_ lease: AnswerLease?) -> TaskList {
        var list = self
        list.lease = lease
        return list
    }
}

extension TaskList: Equatable {
    /// Whether clients see the same list.
    package static func == (left: TaskList, right: TaskList) -> Bool {
        left.json == right.json && left.entityTag == right.entityTag && left.next == right.next
    }
}
