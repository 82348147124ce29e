/// One line of a table of settings, for `--help` and `--print-settings`.
package struct SettingEntry: Sendable, Equatable {
    package enum Source: String, Sendable {
        case flag, environment, file
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
    /// Whether the setting takes several values.
    package var isList = false
    /// Whether the setting can be read from a file.
    package var hasFile = false
    package var help: String
    /// The effective value, as far as it may be shown.
    package var shown = ""
    /// Whether there is no value, so that ``shown`` only says what happens without one.
    var isAbsent = false
    /// The source of the effective value.
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
