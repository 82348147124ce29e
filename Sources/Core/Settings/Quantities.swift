import Basics

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
