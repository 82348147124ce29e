import Basics

// Groups of settings: with `TASKS_SOURCES=ext`, settings such as `TASKS_SOURCE_EXT_AUTHORITY` exist.
extension SettingReader {
    /// Reads settings that exist once for each name in the list `<kind>S`.
    ///
    /// The kind is a word such as `SOURCE`. The closure reads the settings of one group, by their names without the
    /// group. The groups are in the order of their names.
    package mutating func groups<Group>(
        _ kind: String, help: String, _ read: (inout SettingReader, String) -> Group
    ) -> [Group] {
        var names: [String] = []
        for name in list("\(kind)S", .groupName, help: help) {
            if names.contains(name) {
                mistakes.append("\(prefix)\(kind)S: the \(kind.lowercased()) \(name) is named twice; name it once.")
            } else {
                names.append(name)
            }
        }
        groupKinds.append((kind, names))
        notePatterns(kind) { _ = read(&$0, "name") }
        return names.map { name in
            scope = Self.scope(kind, name)
            defer { scope = "" }
            let first = entries.count
            let group = read(&self, name)
            if first < entries.count { entries[first].heading = "\(kind.lowercased()) \(name)" }
            return group
        }
    }

    /// Returns the text before the word of a setting: `SOURCE_EXT_`.
    private static func scope(_ kind: String, _ name: String) -> String { "\(kind)_\(name.asVariable)_" }

    /// Returns the variable of a setting in the group that is being read: `TASKS_SOURCE_EXT_AUTHORITY`.
    package func variable(_ name: String) -> String { "\(prefix)\(scope)\(name)" }

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
