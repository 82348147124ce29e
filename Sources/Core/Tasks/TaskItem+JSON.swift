import Basics

extension TaskItem {
    /// The task as the API shows it: one line, old and new names of every value, `date` the time of creation.
    package var json: [UInt8] {
        let texts = EscapedTexts(of: self)
        var rendering = TaskRendering(owner: owner, capacity: 210 + 2 * owner.identifier.utf8.count + texts.size)
        rendering.append(self, texts)
        return rendering.bytes
    }
}
