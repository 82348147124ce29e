/// The progress of a long operation, as one line of plain ASCII with a limited length.
package struct ProgressBar: Sendable {
    /// The noun for the things that are counted: `tasks`.
    package var unit: String
    /// The count so far.
    package var count = 0
    /// The count at the end, if it is known.
    package var total: Int?
    /// The part of the whole that is done, from 0 to 1, if the counts do not tell.
    package var knownPart: Double?
    /// How long the operation has taken so far.
    package var seconds = 0.0

    package init(_ unit: String) {
        self.unit = unit
    }

    /// The part of the whole that is done; nil if unknown.
    private var part: Double? {
        if let knownPart { return min(max(knownPart, 0), 1) }
        return total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }

    /// Returns the line; without room, the bar is left out first, then the parts at the end.
    package func line(columns: Int) -> String {
        var parts = [percent, counted, rate, left].compactMap(\.self)
        var figures = parts.joined(separator: "  ")
        while figures.utf8.count > columns, parts.count > 1 {
            parts.removeLast()
            figures = parts.joined(separator: "  ")
        }
        let room = columns - figures.utf8.count - 4
        let text = part.map { room >= 10 ? "\(bar($0, min(room, 40)))  \(figures)" : figures } ?? figures
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
        // A shorter time gives no meaningful rate.
        seconds >= 0.2 ? "\(Int(Double(count) / seconds))/s" : nil
    }

    private var left: String? {
        guard let part, seconds >= 0.5, part > 0, part < 1 else { return nil }
        // A damaged database may count so many tasks that no integer holds the seconds.
        let rest = min(seconds / part * (1 - part), 1e9)
        return "\(Self.duration(Int(rest.rounded()))) left"
    }

    private static func duration(_ seconds: Int) -> String {
        switch seconds {
        case ..<90: "\(seconds) s"
        case ..<5400: "\((seconds + 30) / 60) min"
        default: "\((seconds + 1800) / 3600) h"
        }
    }
}
