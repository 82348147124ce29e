import Basics

// Groups of settings: with `TASKS_SOURCES=ext`, settings such as `TASKS_SOURCE_EXT_AUTHORITY` exist.
extension SettingReader {
    /// Reads settings that exist once for each name in the list `<kind>S` and in the blocks of the file
    /// `<kind>S_FILE`.
    ///
    /// The kind is a word such as `SOURCE`. The closure reads the settings of one group, by their names without the
    /// group. The groups are in the order of their names.
    package mutating func groups<Group>(
        _ kind: String, help: String, _ read: (inout SettingReader, String) -> Group
    ) -> [Group] {
        var given = list("\(kind)S", .groupName, help: help)
        let path = optional(
            "\(kind)S_FILE", .path,
            help:
                "A file of blocks: [\(kind.lowercased()) NAME], and below it lines WORD = VALUE. Variables precede it.")
        if let path { given += blocks(of: kind, path) }
        var names: [String] = []
        for name in given {
            if names.contains(name) {
                mistakes.append("\(prefix)\(kind)S: the \(kind.lowercased()) \(name) is named twice; name it once.")
            } else {
                names.append(name)
            }
        }
        groupKinds.append((kind, names))
        notePatterns(kind) { _ = read(&$0, "name") }
        let groups = names.map { name in
            scope = Self.scope(kind, name)
            defer { scope = "" }
            let first = entries.count
            let group = read(&self, name)
            if first < entries.count { entries[first].heading = "\(kind.lowercased()) \(name)" }
            return group
        }
        noteUnknownTexts()
        return groups
    }

    /// Returns the text before the word of a setting: `SOURCE_EXT_`.
    private static func scope(_ kind: String, _ name: String) -> String { "\(kind)_\(name.asVariable)_" }

    /// Returns the variable of a setting in the group that is being read: `TASKS_SOURCE_EXT_AUTHORITY`.
    package func variable(_ name: String) -> String { "\(prefix)\(scope)\(name)" }

    /// Reads the file and keeps its texts for the settings; returns the names of its blocks.
    private mutating func blocks(of kind: String, _ path: String) -> [String] {
        switch input.file(path) {
        case .failure(let failure):
            mistakes.append("\(prefix)\(kind)S_FILE: cannot read '\(path.escapedForPeople)': \(failure.message)")
            return []
        case .success(let text):
            let file = SettingBlocks(text, kind: kind.lowercased(), file: path)
            mistakes += file.mistakes
            return file.blocks.compactMap { block in
                guard let name = SettingKind.groupName.parse(block.name) else {
                    let expected = SettingKind.groupName.expected
                    mistakes.append("\(path.escapedForPeople): '\(block.name.escapedForPeople)' is not \(expected).")
                    return nil
                }
                let scope = Self.scope(kind, name)
                for (word, text) in block.texts where !text.isEmpty { fileTexts[scope + word] = text }
                return name
            }
        }
    }

    /// Adds the lines of the help for the settings of every group: one for all words that also exist without a group.
    private mutating func notePatterns(_ kind: String, _ read: (inout SettingReader) -> Void) {
        var scratch = SettingReader(prefix: prefix, input: SettingInput())
        scratch.scope = Self.scope(kind, "name")
        let before = "\(prefix)\(scratch.scope)"
        read(&scratch)
        let plain = Set(entries.compactMap(\.variable))
        var shared: [String] = []
        var others: [SettingEntry] = []
        for var entry in scratch.entries {
            guard let word = entry.variable?.dropFirst(before.count) else { continue }
            entry.isPattern = true
            if plain.contains("\(prefix)\(word)") { shared.append(String(word)) } else { others.append(entry) }
        }
        var all = SettingEntry(
            flag: SettingEntry.flag(of: "\(kind)_NAME_WORD"), variable: "\(before)WORD", placeholder: "VALUE",
            help:
                "Sets for the \(kind.lowercased()) NAME what \(prefix)WORD sets for the one without a name. WORD is one of "
                + "\(shared.joined(separator: ", ")).")
        all.isPattern = true
        entries += [all] + others
    }

    /// Reports words in files for which there is no setting.
    private mutating func noteUnknownTexts() {
        let known = entries.compactMap(\.variable)
        for name in fileTexts.keys.sorted() where !known.contains("\(prefix)\(name)") {
            let variable = "\(prefix)\(name)"
            mistakes.append("\(variable.escapedForPeople) is no setting of this program.\(hint(variable, known))")
        }
    }

    /// Returns the hint for an unknown variable or flag that has the prefix of groups but names no known group.
    func groupHint(_ written: String) -> String? {
        let name = written.asVariable
        let starts = [prefix, "__"].filter { name.hasPrefix($0) }
        guard let start = starts.first else { return nil }
        let rest = name.dropFirst(start.count)
        for groups in groupKinds where rest.hasPrefix("\(groups.kind)_") {
            let isKnown = groups.names.contains { rest.hasPrefix(Self.scope(groups.kind, $0)) }
            if !isKnown {
                return " It is for a \(groups.kind.lowercased()) that \(prefix)\(groups.kind)S does not name."
            }
        }
        return nil
    }
}

extension SettingKind where Value == String {
    /// A name of a group, which becomes part of the names of settings.
    static let groupName = SettingKind(
        placeholder: "NAME", expected: "a name of 1 to 16 of a-z, 0-9 and -", example: "ext"
    ) { $0.isSourceName ? $0 : nil }
}

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
