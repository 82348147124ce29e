/// A table that is a text: an empty line between rows, and in a row the name first, then its other lines.
struct TextTable: Sendable {
    private let rows: [String: [String]]

    init(_ bytes: [UInt8]) {
        let rows = String(decoding: bytes, as: UTF8.self).split(separator: "\n\n").map { row in
            let lines = row.split(separator: "\n").map(String.init)
            return (lines[0], Array(lines.dropFirst()))
        }
        self.rows = Dictionary(uniqueKeysWithValues: rows)
    }

    var names: Set<String> { Set(rows.keys) }

    /// The lines of a row, which code names: a test compares both.
    subscript(name: String) -> [String] {
        guard let lines = rows[name] else { preconditionFailure("there is no row \(name)") }
        return lines
    }
}
