import Basics

/// The blocks of a file of settings: `[source ext]`, and below it lines such as `client-id = 580e250c-...`.
///
/// Words are written as in flags or in variables, in any case; a line that begins with `#` is a comment.
struct SettingBlocks {
    /// The texts of a block by their words, in the form of variables: `CLIENT_ID`.
    struct Block {
        let name: String
        var texts: [String: String] = [:]
    }

    private(set) var blocks: [Block] = []
    /// The mistakes in the lines, one sentence each.
    private(set) var mistakes: [String] = []

    /// Reads blocks of this kind, such as `source`; `file` is the path that mistakes name.
    init(_ text: String, kind: String, file: String) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingBlanks
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            if let mistake = read(String(line), kind: kind) {
                mistakes.append("\(file.escapedForPeople), line \(index + 1): \(mistake)")
            }
        }
    }

    /// Reads one line; returns the mistake in the line, if there is one.
    private mutating func read(_ line: String, kind: String) -> String? {
        if line.hasPrefix("[") {
            let words = line.dropFirst().prefix { $0 != "]" }.split(separator: " ")
            guard line.hasSuffix("]"), words.count == 2, words[0] == kind else {
                return "the first line of a block is [\(kind) NAME]."
            }
            let name = String(words[1])
            blocks.append(Block(name: name))
            return nil
        }
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return "a line is [\(kind) NAME] or WORD = VALUE." }
        guard let last = blocks.indices.last else { return "there is no [\(kind) NAME] above this line." }
        let word = parts[0].trimmingBlanks.asVariable
        let isRepeated = blocks[last].texts.updateValue(String(parts[1].trimmingBlanks), forKey: word) != nil
        return isRepeated ? "\(word.escapedForPeople) was given before; give it once." : nil
    }
}
