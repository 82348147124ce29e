import Tasks

extension TaskList {
    /// The list that a store is expected to make of these tasks, however long it is.
    package init(rendering items: [TaskItem], next: Int64? = nil) {
        let tasks = items.map(\.json).joined(separator: [UInt8(ascii: ",")])
        self.init(json: [UInt8(ascii: "[")] + tasks + [UInt8(ascii: "]")], next: next, place: nil)
    }
}

extension TaskItem {
    /// The task and its tag, as clients get them that do not ask for one name.
    package var json: [UInt8] { json(.both) }
    package var entityTag: String { entityTag(.both) }
}
