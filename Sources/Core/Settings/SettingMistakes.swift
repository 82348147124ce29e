/// All mistakes in the settings, so that one start reports them all.
package struct SettingMistakes: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence for each mistake, in the order of the table.
    package let messages: [String]

    /// The mistakes, one a line.
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
