extension TaskItem {
    /// The task as the API shows it: one line, old and new names of every value, `date` the time of creation.
    public var json: [UInt8] {
        var rendering = TaskRendering(owner: owner, capacity: TaskList.estimate(of: self))
        rendering.append(self)
        return rendering.bytes
    }
}

extension TaskList {
    /// These tasks of one owner, in this order, with the tag of their bytes.
    public init(rendering items: [TaskItem], next: Int64? = nil) {
        let owner = items.first?.owner ?? Owner("")
        let capacity = items.reduce(2) { $0 + Self.estimate(of: $1) + 1 }
        var rendering = TaskRendering(owner: owner, capacity: capacity)
        rendering.append("[")
        for (index, item) in items.enumerated() {
            if index > 0 { rendering.append(",") }
            rendering.append(item)
        }
        rendering.append("]")
        self.init(json: rendering.bytes, entityTag: StrongEntityTag(of: rendering.bytes).text, next: next)
    }

    /// Enough room for most; escapes may need more.
    static func estimate(of item: TaskItem) -> Int {
        210 + 2 * (item.owner.identifier.utf8.count + item.text.value.utf8.count)
    }
}
