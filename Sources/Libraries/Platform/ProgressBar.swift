/// How far a long work is, as one line of plain ASCII that is never longer than it may be.
package struct ProgressBar: Sendable {
    /// What is counted: `tasks`.
    package var unit: String
    /// How much was there when the work began, or was begun again.
    package var before = 0
    /// How much is done.
    package var count = 0
    /// How much is to be done, as far as anybody knows.
    package var total: Int?
    /// The part of the whole that is done, from 0 to 1, where that is known otherwise than by counts.
    package var knownPart: Double?
    /// How long the work takes so far.
    package var seconds = 0.0

    /// Nothing done yet.
    package init(_ unit: String) {
        self.unit = unit
    }

    /// The part of the whole that is done; nil if nobody knows.
    private var part: Double? {
        if let knownPart { return min(max(knownPart, 0), 1) }
        return total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }

    /// The part that was done before the work was begun again.
    private var partBefore: Double {
        knownPart == nil ? total.map { $0 > 0 ? Double(before) / Double($0) : 0 } ?? 0 : 0
    }

    /// The line; parts that find no room are left out, the bar first, then those at the end.
    package func line(columns: Int) -> String {
        var parts = [percent, counted, rate, left].compactMap(\.self)
        var words = parts.joined(separator: "  ")
        while words.utf8.count > columns, parts.count > 1 {
            parts.removeLast()
            words = parts.joined(separator: "  ")
        }
        let room = columns - words.utf8.count - 4
        let text = part.map { room >= 10 ? "\(bar($0, min(room, 40)))  \(words)" : words } ?? words
        return String(text.prefix(max(columns, 0)))
    }

    private func bar(_ part: Double, _ width: Int) -> String {
        let full = Int(part * Double(width))
        return "[\(String(repeating: "#", count: full))\(String(repeating: ".", count: width - full))]"
    }

    private var percent: String? {
        part.map { part in
            let digits = "\(Int(part * 100))"
            return "\(String(repeating: " ", count: 3 - digits.utf8.count))\(digits) %"
        }
    }

    private var counted: String { total.map { "\(count) of \(max($0, count)) \(unit)" } ?? "\(count) \(unit)" }

    private var rate: String? {
        // The first moments say nothing.
        seconds >= 0.2 ? "\(Int(Double(count - before) / seconds))/s" : nil
    }

    private var left: String? {
        guard let part, seconds >= 0.5, part > partBefore, part < 1 else { return nil }
        return "\(Self.duration(Int((seconds / (part - partBefore) * (1 - part)).rounded()))) left"
    }

    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<90: "\(seconds) s"
        case ..<5400: "\((seconds + 30) / 60) min"
        default: "\((seconds + 1800) / 3600) h"
        }
    }
}
