package import Basics

/// The sources of a program's settings.
package struct SettingInput: Sendable {
    /// The command line without the name of the program.
    package var arguments: [String]
    package var environment: [String: String]
    /// Reads the file of a `_FILE` variant; returns its text, or why there is none.
    package var file: @Sendable (String) -> Result<String, OperatorError>

    package init(
        arguments: [String] = [], environment: [String: String] = [:],
        file: @escaping @Sendable (String) -> Result<String, OperatorError> = { _ in
            .failure(OperatorError("no files here"))
        }
    ) {
        self.arguments = arguments
        self.environment = environment
        self.file = file
    }
}

/// Reads a table of settings: each call declares one setting and returns its value.
///
/// A flag precedes a variable, and a variable precedes the default. A wrong value is reported and replaced by the
/// default, so one reading finds every mistake. The same calls make the help text.
package struct SettingReader {
    /// The prefix of a name in the environment: `TASKS_`.
    package let prefix: String
    /// Every setting that was declared so far.
    package internal(set) var entries: [SettingEntry] = []
    package internal(set) var mistakes: [String] = []
    var arguments: GivenArguments
    let input: SettingInput
    /// The text before the names of settings in the group that is being read: `SOURCE_EXT_`.
    var scope = ""
    /// The kinds of groups, such as `SOURCE`, with the names of their groups.
    var groupKinds: [(kind: String, names: [String])] = []
    /// The texts of files, by the names of their settings without the prefix.
    var fileTexts: [String: String] = [:]

    init(prefix: String, input: SettingInput) {
        self.prefix = prefix
        self.input = input
        arguments = GivenArguments(input.arguments)
    }

    /// Reads a setting with a default: `reader.value("LISTEN", .listenAddress, default: "127.0.0.1:3000", help: "…")`.
    package mutating func value<Value>(
        _ name: String, _ kind: SettingKind<Value>, default fallback: String, help: String
    ) -> Value {
        guard let ready = kind.parse(fallback) else {
            preconditionFailure("the default of \(name) is not \(kind.expected)")
        }
        return single(name, kind, fallback: fallback, isValue: true, help) ?? ready
    }

    /// Reads a setting that may be absent; `absence` says in the help what happens then.
    package mutating func optional<Value>(
        _ name: String, _ kind: SettingKind<Value>, absence: String = "", help: String
    ) -> Value? {
        single(name, kind, fallback: absence, isValue: false, help)
    }

    /// Reads a setting of several values: repeated flags, or values with commas (in files also lines) between.
    package mutating func list<Value>(
        _ name: String, _ kind: SettingKind<Value>, default fallback: [String] = [], help: String
    ) -> [Value] {
        let given = find(name, kind)
        let texts = given.flatMap { $0.text.isQuoted ? [$0.text] : $0.text.elements }
        let defaults = fallback.joined(separator: ",")
        note(name, kind, given, SettingEntry(flag: "", fallback: defaults, isList: true, help: help), isValue: true)
        if !given.isEmpty, texts.isEmpty {
            refuse(given.map(\.text).joined(separator: ","), kind, name: given[0].name)
        }
        return (texts.isEmpty ? fallback : texts).compactMap { text in
            check(text, kind, name: given.first?.name ?? name)
        }
    }

    /// Reads a flag of the command line without a variable and without a value, such as `--version`.
    package mutating func flag(_ name: String, help: String) -> Bool {
        entries.append(SettingEntry(flag: "--\(name)", help: help))
        let values = arguments.take("--\(name)") { _ in false }
        for _ in values.compactMap(\.self) { mistakes.append("--\(name) takes no value.") }
        return !values.isEmpty
    }

    /// Reads a flag of the command line with a value and without a variable, such as `--user` of one command.
    package mutating func option<Value>(_ name: String, _ kind: SettingKind<Value>, help: String) -> Value? {
        entries.append(SettingEntry(flag: "--\(name)", placeholder: kind.placeholder, help: help))
        let given = fromFlags("--\(name)", kind)
        if given.count > 1 { mistakes.append("--\(name) was given \(given.count) times; give it once.") }
        return given.last.flatMap { check($0.text, kind, name: $0.name) }
    }

    /// Reports a mistake in the combination of several settings.
    package mutating func mistake(_ message: String) {
        mistakes.append(message)
    }

    private mutating func single<Value>(
        _ name: String, _ kind: SettingKind<Value>, fallback: String, isValue: Bool, _ help: String
    ) -> Value? {
        let given = find(name, kind)
        if given.count > 1 { mistakes.append("\(given[0].name) was given \(given.count) times; give it once.") }
        note(name, kind, given, SettingEntry(flag: "", fallback: fallback, help: help), isValue: isValue)
        return given.last.flatMap { check($0.text, kind, name: $0.name) }
    }

    private mutating func check<Value>(_ text: String, _ kind: SettingKind<Value>, name: String) -> Value? {
        if !text.isQuoted, let value = kind.parse(text) { return value }
        refuse(text, kind, name: name)
        return nil
    }

    private mutating func refuse<Value>(_ text: String, _ kind: SettingKind<Value>, name: String) {
        let given = kind.isSecret ? "its value" : "'\(text.escapedForPeople)'"
        let reason =
            text.isQuoted
            ? "is in quotes. A shell removes them, but `docker run --env-file` makes them a part of the value: leave them out."
            : "is not \(kind.expected). Example: \(kind.example)"
        mistakes.append("\(name): \(given) \(reason)")
    }
}

extension String {
    /// Whether the text has a quotation mark at both ends: no value of a setting has.
    fileprivate var isQuoted: Bool {
        utf8.count > 1 && ["\"", "'"].contains { hasPrefix($0) && hasSuffix($0) }
    }

    /// The elements of a list, without white space around them.
    fileprivate var elements: [String] {
        split { $0 == "," || $0.isNewline }.map { String($0.trimmingBlanks) }
    }
}
