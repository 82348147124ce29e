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

    /// Declares and reads every setting, in the order of the help text; no setting is read conditionally.
    init(reading reader: inout SettingReader)

    /// Returns the mistakes for these operands, such as a missing setting that one command needs; by default none.
    func mistakes(for operands: [String]) -> [String]
}

extension SettingTable {
    package func mistakes(for operands: [String]) -> [String] { [] }
}

/// A table that was read without a mistake.
package struct ReadSettings<Table: SettingTable>: Sendable {
    package let values: Table
    /// Each setting with its effective value and the source of it.
    package let entries: [SettingEntry]
    /// The arguments of the command line that are not flags: a command and its operands.
    package let operands: [String]

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
        let mistakes = reader.mistakes + values.mistakes(for: operands)
        guard mistakes.isEmpty else { throw SettingMistakes(messages: mistakes) }
        return ReadSettings(values: values, entries: reader.entries, operands: operands)
    }

    /// The part of `--help` that lists the settings.
    package static var helpText: String {
        var reader = SettingReader(prefix: prefix, input: SettingInput())
        _ = Self(reading: &reader)
        return reader.entries.map { $0.helpLines + "\n" }.joined()
    }
}
