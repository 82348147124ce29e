import Basics

extension TaskItem {
    /// The task as the API shows it: one line, old and new names of every value, `date` the time of creation.
    package var json: [UInt8] {
        let text = JSONEscapedText(text.value)
        var rendering = TaskRendering(owner: owner, capacity: 210 + 2 * owner.identifier.utf8.count + 2 * text.count)
        rendering.append(self, text)
        return rendering.bytes
    }
}
