import Basics
import Zlib

/// A list of tasks as the API answers it, rendered once and shared by all readers.
package struct TaskList: Sendable {
    /// The list in JSON: an array of tasks, in one line.
    package let json: [UInt8]
    /// The names that its tasks have.
    package private(set) var names = TaskNames.both
    /// The strong entity tag of these bytes and of whether more tasks follow, in quotes.
    package let entityTag: String
    /// The id of the last task if more follow on another page, else nothing.
    package let next: Int64?
    /// The place of a long list, which all share to whom it is sent.
    package private(set) var place: AnswerPlace?
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
    package init(json: [UInt8], _ names: TaskNames = .both, next: Int64?, place: AnswerPlace?) {
        let tag = StrongEntityTag(of: json, isWhole: next == nil)
        self.init(json: json, entityTag: tag.text, next: next)
        (self.names, self.place) = (names, place)
    }

    /// The most bytes that the list takes together with its gzip form.
    package var mostBytes: Int { json.capacity + (gzip?.limit ?? 0) }

    /// The same list at this place, or at none.
    package func at(_ place: AnswerPlace?) -> TaskList {
        var list = self
        list.place = place
        return list
    }

    /// The same list with another id after which more tasks follow.
    func followed(after id: Int64) -> TaskList { TaskList(json: json, names, next: id, place: place) }
}

extension TaskList: Equatable {
    /// Whether clients see the same list.
    package static func == (left: TaskList, right: TaskList) -> Bool {
        left.json == right.json && left.entityTag == right.entityTag && left.next == right.next
    }
}
