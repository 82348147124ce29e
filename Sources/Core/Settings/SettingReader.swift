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

/// A text that was found for a setting, and its source.
struct GivenText {
    let text: String
    /// The flag or the variable, as a person wrote it.
    let name: String
    let source: SettingEntry.Source
}

extension SettingReader {
    /// Returns all texts from the first source that has any: flags, then the environment.
    mutating func find<Value>(_ name: String, _ kind: SettingKind<Value>) -> [GivenText] {
        let name = scope + name
        let flag = SettingEntry.flag(of: name)
        let plain = fromFlags(flag, kind)
        let files = kind.hasFile ? fromFlags("\(flag)-file", .path) : []
        let variable = input.environment["\(prefix)\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        let file = kind.hasFile ? input.environment["\(prefix)\(name)_FILE"].flatMap { $0.isEmpty ? nil : $0 } : nil
        if !plain.isEmpty || !files.isEmpty {
            return plain + files.compactMap { contents(of: $0.text, named: $0.name, .flag, kind) }
        }
        if variable != nil, file != nil {
            mistakes.append("\(prefix)\(name) and \(prefix)\(name)_FILE are both set; set one of them.")
        }
        if let variable { return [GivenText(text: variable, name: "\(prefix)\(name)", source: .environment)] }
        guard let file else { return [] }
        return contents(of: file, named: "\(prefix)\(name)_FILE", .environment, kind).map { [$0] } ?? []
    }

    mutating func fromFlags<Value>(_ flag: String, _ kind: SettingKind<Value>) -> [GivenText] {
        let accepts: (String) -> Bool = kind.bareFlag == nil ? { _ in true } : { kind.parse($0) != nil }
        var texts: [GivenText] = []
        for value in arguments.take(flag, accepts: accepts) {
            if let text = value ?? kind.bareFlag {
                texts.append(GivenText(text: text, name: flag, source: .flag))
            } else {
                mistakes.append("\(flag) needs a value: \(kind.expected). Example: \(flag) \(kind.example)")
            }
        }
        return texts
    }

    /// Reads the text of a setting's file, without the newline that editors put at the end.
    ///
    /// An empty file gives no value, like an empty variable, except in the place of a secret.
    private mutating func contents<Value>(
        of path: String, named name: String, _ source: SettingEntry.Source, _ kind: SettingKind<Value>
    ) -> GivenText? {
        switch input.file(path) {
        case .success(let text):
            // CR LF is one character, which `hasSuffix("\n")` does not find.
            let line = text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text
            return line.isEmpty && !kind.isSecret ? nil : GivenText(text: line, name: name, source: source)
        case .failure(let failure):
            mistakes.append("\(name): cannot read '\(path.escapedForPeople)': \(failure.message)")
            return nil
        }
    }

    /// Adds the line of a setting to the table; `isValue` says whether the default is a value or a text about absence.
    mutating func note<Value>(
        _ name: String, _ kind: SettingKind<Value>, _ given: [GivenText], _ entry: SettingEntry, isValue: Bool
    ) {
        var entry = entry
        entry.flag = SettingEntry.flag(of: scope + name)
        entry.variable = "\(prefix)\(scope)\(name)"
        entry.placeholder = kind.placeholder
        entry.hasFile = kind.hasFile
        entry.isAbsent = given.isEmpty && !isValue
        entry.shown = given.isEmpty ? entry.fallback : given.map { kind.shown($0.text) }.joined(separator: ",")
        entry.source = given.first?.source ?? .fallback
        entries.append(entry)
    }

    /// Takes out the operands, and reports flags that belong to no setting.
    mutating func takeOperands() -> [String] {
        let (unknown, operands) = arguments.takeRest()
        let flags = entries.flatMap(\.flags)
        for flag in unknown {
            mistakes.append("\(flag.escapedForPeople) is no flag of this program.\(hint(flag, flags))")
        }
        return operands
    }

    /// A sentence for each variable that belongs to no setting.
    var unknownVariables: [String] {
        let variables = Set(entries.flatMap(\.variables))
        let names = input.environment.keys.filter { name in
            name.hasPrefix(prefix) && !variables.contains(name) && !isServiceLink(name)
        }
        return names.sorted().map { name in
            "\(name.escapedForPeople) is no setting of this program.\(hint(name, variables.sorted()))"
        }
    }

    func hint(_ written: String, _ names: [String]) -> String {
        if let hint = groupHint(written) { return hint }
        return suggestion(for: written, among: names).map { " Did you mean \($0)?" } ?? " --help lists them."
    }

    /// Returns whether Kubernetes set the variable for a service called `tasks`.
    private func isServiceLink(_ name: String) -> Bool {
        let rest = name.dropFirst(prefix.count)
        return rest == "PORT" || rest.hasPrefix("PORT_") || rest.hasPrefix("SERVICE_HOST")
            || rest.hasPrefix("SERVICE_PORT")
    }
}

extension String {
    /// The text with control characters made visible and its length bounded, for a message on a terminal.
    var escapedForPeople: String {
        let visible = unicodeScalars.prefix(200).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
        return visible.joined() + (unicodeScalars.count > 200 ? "..." : "")
    }
}

/// The arguments of a command line, taken out setting by setting; the rest are mistakes or operands.
struct GivenArguments {
    private var arguments: [String?]
    /// The arguments after `--`, which are never flags.
    private let trailing: [String]

    init(_ given: [String]) {
        let flags = given.prefix { $0 != "--" }
        arguments = flags.map { $0 }
        trailing = Array(given.dropFirst(flags.count + 1))
    }

    /// Takes out all occurrences of `--name`, `--name=value` and `--name value`, and returns their values.
    ///
    /// The next argument is taken only if `accepts` allows it: `--flag check` leaves the command alone.
    mutating func take(_ flag: String, accepts: (String) -> Bool) -> [String?] {
        var found: [String?] = []
        for index in arguments.indices {
            guard let argument = arguments[index] else { continue }
            if argument == flag {
                arguments[index] = nil
                found.append(takeValue(after: index, accepts: accepts))
            } else if argument.hasPrefix(flag + "=") {
                arguments[index] = nil
                found.append(String(argument.dropFirst(flag.count + 1)))
            }
        }
        return found
    }

    private mutating func takeValue(after index: Int, accepts: (String) -> Bool) -> String? {
        let next = index + 1
        guard next < arguments.count, let value = arguments[next], !value.hasPrefix("--"), accepts(value) else {
            return nil
        }
        arguments[next] = nil
        return value
    }

    /// Takes out the rest, which is unknown flags and operands.
    mutating func takeRest() -> (unknownFlags: [String], operands: [String]) {
        var unknown: [String] = []
        var operands: [String] = []
        var afterUnknown = false
        for case let argument? in arguments {
            if argument.hasPrefix("-"), argument != "-" {
                unknown.append(String(argument.prefix { $0 != "=" }))
                afterUnknown = !argument.contains("=")
            } else {
                // The argument after an unknown flag is probably its value, so both are one mistake and not two.
                if !afterUnknown { operands.append(argument) }
                afterUnknown = false
            }
        }
        return (unknown, operands + trailing)
    }
}
