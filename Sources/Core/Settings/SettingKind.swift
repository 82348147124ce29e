package import Basics

/// Parses the text of a setting, and describes the expected texts.
package struct SettingKind<Value: Sendable>: Sendable {
    /// The placeholder for the value in `--help`: `HOST:PORT`.
    package let placeholder: String
    /// A description of valid values, for a mistake: `an address and a port`.
    package let expected: String
    /// A valid value, for a mistake.
    package let example: String
    /// Reads a text; returns nil if the text is no value.
    let parse: @Sendable (String) -> Value?
    /// The closure makes the text that people and logs see in place of a value; nil shows the value itself.
    private var redact: (@Sendable (String) -> String)?
    /// The text for which a flag without a value stands; nil if the flag needs a value.
    let bareFlag: String?
    /// Whether the setting can also be read from a file that its `_FILE` variant names.
    private(set) var hasFile = false

    /// Creates a kind of setting whose texts may be shown.
    package init(
        placeholder: String, expected: String, example: String, bareFlag: String? = nil,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.placeholder = placeholder
        self.expected = expected
        self.example = example
        self.parse = parse
        self.bareFlag = bareFlag
    }

    /// Returns the same kind, shown only through the closure, and readable from a file that the `_FILE` variant names.
    package func redacted(_ redact: @escaping @Sendable (String) -> String) -> SettingKind {
        var kind = reloadable
        kind.redact = redact
        return kind
    }

    /// The same kind, readable from a file that the `_FILE` variant names: a file can change while the program runs.
    package var reloadable: SettingKind {
        var kind = self
        kind.hasFile = true
        return kind
    }

    /// Takes the values of another kind, or `off` for nil.
    package static func orOff<Wrapped>(_ kind: SettingKind<Wrapped>) -> SettingKind where Value == Wrapped? {
        SettingKind(
            placeholder: "\(kind.placeholder)|off", expected: "\(kind.expected), or off", example: kind.example
        ) { text in
            if text == "off" { return .some(nil) }
            return kind.parse(text).map { .some($0) }
        }
    }

    var isSecret: Bool { redact != nil }

    func shown(_ text: String) -> String { redact?(text) ?? text }
}

extension SettingKind where Value == String {
    /// Takes any text of at least one character.
    package static func text(_ placeholder: String, expected: String, example: String) -> SettingKind {
        SettingKind(placeholder: placeholder, expected: expected, example: example) { $0.isEmpty ? nil : $0 }
    }

    /// Takes a text without white space, which would come from a remark behind the value.
    package static func word(_ placeholder: String, expected: String, example: String) -> SettingKind {
        SettingKind(placeholder: placeholder, expected: "\(expected), without white space", example: example) { text in
            text.isEmpty || text.contains(where: \.isWhitespace) ? nil : text
        }
    }

    /// A path of the file system.
    package static let path = text("PATH", expected: "a path", example: "/var/lib/tasks/tasks.db")
}

extension SettingKind where Value == Bool {
    /// True or false; a flag without a value is true.
    package static let bool = SettingKind(
        placeholder: "true|false", expected: "true or false", example: "true", bareFlag: "true"
    ) { text in
        switch text {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }
}

extension SettingKind where Value == Int {
    /// Takes a whole number within these bounds.
    package static func integer(_ range: ClosedRange<Int>, example: Int) -> SettingKind {
        SettingKind(
            placeholder: "N", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            example: "\(example)"
        ) { text in
            guard let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension SettingKind where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    package static var choice: SettingKind {
        let choices = Value.allCases.map(\.rawValue)
        return SettingKind(
            placeholder: choices.joined(separator: "|"), expected: "one of \(choices.joined(separator: ", "))",
            example: choices.first ?? ""
        ) { Value(rawValue: $0) }
    }
}

extension SettingKind {
    /// Takes an absolute `https` URL without a fragment; the table decides whether plain `http` is good.
    package static func webAddress(example: String) -> SettingKind where Value == WebAddress {
        SettingKind(
            placeholder: "URL", expected: "a URL with https:// (http:// only on this machine)", example: example
        ) { text in WebAddress(text).flatMap { $0.hasFragment ? nil : $0 } }
    }
}

extension SettingKind where Value == Duration {
    /// Takes a time such as `90` (seconds), `250ms`, `90s`, `15m`, `1h` or `7d`, within these bounds.
    package static func duration(_ range: ClosedRange<Duration>, example: String) -> SettingKind {
        SettingKind(
            placeholder: "TIME",
            expected: "a time from \(range.lowerBound.short) to \(range.upperBound.short) (units ms, s, m, h, d)",
            example: example
        ) { text in
            guard let milliseconds = quantity(text, units: durationUnits, plain: 1000) else { return nil }
            let duration = Duration.milliseconds(milliseconds)
            return range.contains(duration) ? duration : nil
        }
    }
}

extension SettingKind where Value == Int {
    /// Takes a size such as `65536`, `64KiB` or `1MiB`, within these bounds, in bytes.
    package static func byteSize(_ range: ClosedRange<Int>, example: String) -> SettingKind {
        SettingKind(
            placeholder: "SIZE",
            expected: "a size from \(range.lowerBound) to \(range.upperBound) bytes (units B, KiB, MiB, GiB)",
            example: example
        ) { text in
            guard let bytes = quantity(text, units: sizeUnits, plain: 1), range.contains(bytes) else { return nil }
            return bytes
        }
    }
}

private let durationUnits = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
private let sizeUnits = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]

/// Returns the number of a text in the smallest unit; `plain` is the unit of a number without one.
private func quantity(_ text: String, units: [(name: String, factor: Int)], plain: Int) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count)
    guard let number = Int(decimal: digits) else { return nil }
    guard let factor = name.isEmpty ? plain : units.first(where: { $0.name == name })?.factor else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
}

extension Duration {
    /// The time in the largest unit that needs no fraction: `15m`.
    var short: String {
        let milliseconds = Int(self / .milliseconds(1))
        guard milliseconds > 0 else { return "0s" }
        let unit = durationUnits.last { milliseconds % $0.1 == 0 } ?? ("ms", 1)
        return "\(milliseconds / unit.1)\(unit.0)"
    }
}
