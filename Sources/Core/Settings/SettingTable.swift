/// All settings of a program, as one value that is read from a ``SettingReader``.
///
/// ```swift
/// struct ServerSettings: SettingTable {
///     static let prefix = "TASKS_"
///     let listen: [ListenAddress]
///     init(reading reader: inout SettingReader) {
///         listen = reader.list("LISTEN", .listenAddress, default: ["127.0.0.1:3000"], help: "Where to listen.")
///     }
/// }
/// let read = try ServerSettings.read(SettingInput(arguments: …, environment: …))
/// ```
package protocol SettingTable: Sendable {
    /// The prefix of a name in the environment: `TASKS_`.
    static var prefix: String { get }

    /// Whether a variable with the prefix that is no setting is a mistake; otherwise it is a warning.
    static var refusesUnknownVariables: Bool { get }

    /// Declares and reads every setting, in the order of the help text; no setting is read conditionally.
    init(reading reader: inout SettingReader)

    /// Returns the mistakes for these operands, such as a missing setting that one command needs; by default none.
    func mistakes(for operands: [String]) -> [String]
}

extension SettingTable {
    package static var refusesUnknownVariables: Bool { true }

    package func mistakes(for operands: [String]) -> [String] { [] }
}

/// A table that was read without a mistake.
package struct ReadSettings<Table: SettingTable>: Sendable {
    package let values: Table
    /// Each setting with its effective value and the source of it.
    package let entries: [SettingEntry]
    /// The arguments of the command line that are not flags: a command and its operands.
    package let operands: [String]
    package let warnings: [String]

    /// The lines of `--print-settings`, with secrets hidden.
    package var printed: String {
        entries.compactMap(\.printLine).map { $0 + "\n" }.joined()
    }

    /// Returns the variables whose values are shown otherwise than in an earlier reading.
    package func changes(since earlier: ReadSettings) -> [String] {
        let gone = earlier.entries.filter { entry in !entries.contains { $0.variable == entry.variable } }
        return (entries.filter { !earlier.entries.contains($0) } + gone).compactMap(\.variable)
    }

    /// Returns whether this variable, its flag or a file gives a value.
    package func isGiven(_ variable: String) -> Bool {
        entries.contains { $0.variable == variable && $0.source != .fallback }
    }
}

extension SettingTable {
    /// Reads all settings: flag, then environment, then default; throws all mistakes together.
    package static func read(_ input: SettingInput) throws(SettingMistakes) -> ReadSettings<Self> {
        var reader = SettingReader(prefix: prefix, input: input)
        let values = Self(reading: &reader)
        let operands = reader.takeOperands()
        let unknown = reader.unknownVariables
        let refused = refusesUnknownVariables ? unknown : []
        let mistakes = reader.mistakes + refused + values.mistakes(for: operands)
        guard mistakes.isEmpty else { throw SettingMistakes(messages: mistakes) }
        return ReadSettings(values: values, entries: reader.entries, operands: operands, warnings: unknown)
    }

    /// The part of `--help` that lists the settings.
    package static var helpText: String {
        var reader = SettingReader(prefix: prefix, input: SettingInput())
        _ = Self(reading: &reader)
        return reader.entries.map { $0.helpLines + "\n" }.joined()
    }
}

/// One line of a table of settings, for `--help` and `--print-settings`.
package struct SettingEntry: Sendable, Equatable {
    package enum Source: String, Sendable {
        case flag, environment
        case fallback = "default"
    }

    /// The flag: `--listen`.
    package var flag: String
    /// The variable, `TASKS_LISTEN`; nil for a flag without a variable.
    package var variable: String?
    /// The placeholder for the value; nil for a flag without one.
    package var placeholder: String?
    /// The default, or a text that says what happens without a value.
    package var fallback = ""
    package var isList = false
    /// Whether the setting can be read from a file.
    package var hasFile = false
    package var help: String
    /// The effective value, as far as it may be shown.
    package var shown = ""
    /// Whether there is no value, so that ``shown`` only says what happens without one.
    var isAbsent = false
    package var source = Source.fallback
    /// Whether the entry stands for settings of any group, in the help only.
    var isPattern = false
    /// The heading of the group whose first setting this is.
    var heading: String?

    static func flag(of name: String) -> String {
        "--" + String(name.map { $0 == "_" ? "-" : $0 }).lowercased()
    }

    var flags: [String] { isPattern ? [] : hasFile ? [flag, "\(flag)-file"] : [flag] }
    var variables: [String] { isPattern ? [] : variable.map { hasFile ? [$0, "\($0)_FILE"] : [$0] } ?? [] }

    /// The lines of `--help`: the flag, its purpose, its variable and its default.
    var helpLines: String {
        let value = placeholder.map { " \($0)" } ?? ""
        var notes: [String] = []
        if let variable { notes.append(variable) }
        if hasFile { notes.append("or \(flag)-file, \(variable ?? "")_FILE") }
        if isList { notes.append("several: repeat or use commas") }
        if !fallback.isEmpty { notes.append("default: \(fallback)") }
        let tail = notes.isEmpty ? "" : "\n        [\(notes.joined(separator: "; "))]"
        return "    \(flag)\(value)\n        \(help)\(tail)"
    }

    /// The line of `--print-settings`: `TASKS_LISTEN=127.0.0.1:3000  # default`.
    var printLine: String? {
        guard let variable, !isPattern else { return nil }
        let start = heading.map { "# \($0)\n" } ?? ""
        guard isAbsent else { return "\(start)\(variable)=\(shown)  # \(source.rawValue)" }
        return "\(start)\(variable)=  # \(source.rawValue)\(shown.isEmpty ? "" : ": \(shown)")"
    }
}

/// All mistakes in the settings, so that one start reports them all.
package struct SettingMistakes: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence for each mistake, in the order of the table.
    package let messages: [String]

    package var description: String {
        messages.joined(separator: "\n")
    }
}

/// Returns the most similar of the names, if it is similar enough.
package func suggestion(for written: String, among names: [String]) -> String? {
    let nearest = names.map { (name: $0, distance: editDistance(written, $0)) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(2, written.count / 4) else { return nil }
    return nearest.name
}

/// Returns how many letters must be added, dropped or changed (Levenshtein 1965).
func editDistance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    var row = Array(0...second.count)
    for (line, left) in first.enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for (column, right) in second.enumerated() {
            let changed = diagonal + (left == right ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
        }
    }
    return row[second.count]
}
