package import Basics
package import Platform
package import Tasks

/// A map of owners without contradictions: no one is moved twice, and no one is moved to an owner who is moved as well.
///
/// A map is read from comma-separated values, a pair on each line, perhaps with a first line `old,new`.
package struct OwnerMap: Sendable {
    struct Entry: Sendable {
        let number: Int
        let pair: OwnerPair
    }

    /// The mistakes in a map, each a line for a person, with its place.
    package struct Mistakes: Error {
        package fileprivate(set) var lines = MoveReport.Sample<String>()
    }

    /// The pairs, in the order of their lines.
    private(set) var entries: [Entry] = []
    /// For each old owner, the last line with that owner.
    private var linesByOld: [Owner: Int] = [:]
    /// For each new owner, the last line with that owner.
    private var linesByNew: [Owner: Int] = [:]

    package var count: Int { entries.count }

    /// Warns of new owners of the same source as the old ones: perhaps the name of the source is missing before them.
    package var warning: String? {
        let doubtful = entries.filter { $0.pair.old.namespace == $0.pair.new.namespace }
        return doubtful.first.map { first in
            "line \(first.number): \(doubtful.count.counted("person", "people")) would stay with the source of the old owner; "
                + "if they sign in by another source now, write its name before the new owner, as in ext:ID, or the tasks are "
                + "out of their reach"
        }
    }

    /// The namespaces of the old owners and of the new ones, each with its first line; the name is empty for none.
    package var namespaces: (old: [String: Int], new: [String: Int]) {
        func lines(_ owner: (OwnerPair) -> Owner) -> [String: Int] {
            Dictionary(entries.map { (owner($0.pair).namespace ?? "", $0.number) }) { first, _ in first }
        }
        return (lines(\.old), lines(\.new))
    }

    private init() {}

    /// Reads and checks a map; `merging` allows several old owners for one new one, and the error has every mistake.
    package static func read(_ nextLine: LineInput, merging: Bool) throws(Mistakes) -> OwnerMap {
        var map = OwnerMap()
        var mistakes = Mistakes()
        var number = 1
        while let line = line(number, nextLine, &mistakes) {
            defer { number += 1 }
            guard line.contains(where: { $0 != UInt8(ascii: " ") }) else { continue }
            if map.entries.isEmpty, mistakes.lines.count == 0, OwnerPair.isHead(line) { continue }
            do throws(OperatorError) {
                try map.append(OwnerPair(separatedByComma: line), number, merging: merging)
            } catch {
                mistakes.lines.append("line \(number): \(error.failure)")
            }
        }
        for entry in map.entries {
            guard let other = map.linesByOld[entry.pair.new] else { continue }
            mistakes.lines.append(
                "line \(entry.number): its new owner is the old owner of line \(other): no one can be moved on in the same map"
            )
        }
        guard mistakes.lines.count == 0 else { throw mistakes }
        return map
    }

    /// The next line of the map; nil at the end, and after a failure, which becomes a mistake.
    private static func line(_ number: Int, _ nextLine: LineInput, _ mistakes: inout Mistakes) -> [UInt8]? {
        do throws(SystemError) {
            return try nextLine()
        } catch {
            mistakes.lines.append("line \(number): \(error.reason)")
            return nil
        }
    }

    private mutating func append(_ pair: OwnerPair, _ number: Int, merging: Bool) throws(OperatorError) {
        let lineOfOld = linesByOld.updateValue(number, forKey: pair.old)
        let lineOfNew = linesByNew.updateValue(number, forKey: pair.new)
        entries.append(Entry(number: number, pair: pair))
        if let lineOfOld { throw OperatorError("the old owner of line \(lineOfOld) again") }
        guard let lineOfNew, !merging else { return }
        throw OperatorError(
            "the new owner of line \(lineOfNew) again: their lists are put together only with --merge")
    }

    /// Whether a pair names this owner, as the old one or the new one.
    func mentions(_ owner: Owner) -> Bool { linesByOld[owner] != nil || linesByNew[owner] != nil }
}

/// One line of a map: the tasks of the old owner go to the new one.
package struct OwnerPair: Sendable, Equatable {
    package let old: Owner
    package let new: Owner

    /// The owners of two texts, as a server would make them of tokens; the error has no values.
    init(old: String, new: String) throws(OperatorError) {
        self.old = try Owner(named: old, "the old owner")
        self.new = try Owner(named: new, "the new owner")
        guard self.old != self.new else { throw OperatorError("both owners are the same") }
    }
}

extension Owner {
    /// The owner of a text that an operator has written, as a server would make it of a token.
    package init(named text: String, _ name: String = "the owner") throws(OperatorError) {
        guard Owner(checked: text) != nil else {
            throw OperatorError("\(name) is empty, or has more than \(Owner.longest) bytes, or a control character")
        }
        guard text.utf8.first != UInt8(ascii: " "), text.utf8.last != UInt8(ascii: " ") else {
            throw OperatorError("\(name) has a space before or after it")
        }
        self = Self.folded(text)
    }

    /// Folds GUIDs to lower case, as servers store them (V-57), also with a namespace (P-14) and in pairs (P-16); any
    /// other text is taken as it is.
    private static func folded(_ text: String) -> Owner {
        let whole = Owner(text)
        guard let name = whole.namespace else { return Owner(foldedValue(text) ?? text) }
        let value = String(text.utf8.dropFirst(name.utf8.count + 1)) ?? ""
        return foldedValue(value).map { Owner("\(name):\($0)") } ?? whole
    }

    /// One GUID, or two with a plus between them; nil for all else.
    private static func foldedValue(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "+"), omittingEmptySubsequences: false)
        let guids = parts.compactMap { part in String(part).flatMap(GUID.canonical) }
        return guids.count == parts.count && guids.count <= 2 ? guids.joined(separator: "+") : nil
    }
}

extension OwnerPair {
    /// The longest line of a map, in bytes: two owners with every byte doubled, their quotation marks and the comma.
    private static let longestLine = 4096

    /// Reads `old,new`; a field may be in quotation marks, which are doubled in it (RFC 4180).
    init(separatedByComma line: [UInt8]) throws(OperatorError) {
        guard line.count <= Self.longestLine else { throw OperatorError("longer than \(Self.longestLine) bytes") }
        let fields = try Self.fields(of: line)
        guard fields.count == 2 else {
            throw OperatorError("not two columns, the old owner, a comma and the new owner")
        }
        try self.init(old: fields[0], new: fields[1])
    }

    /// Whether a line is the head of such a table: `old,new`.
    static func isHead(_ line: [UInt8]) -> Bool {
        guard let fields = try? fields(of: line) else { return false }
        return fields.map(\.lowercasedASCII) == ["old", "new"]
    }

    /// The texts between the commas of a line.
    private static func fields(of line: [UInt8]) throws(OperatorError) -> [String] {
        enum Place { case start, plain, quoted, closed }
        guard let text = String(validating: line, as: UTF8.self) else { throw OperatorError("no UTF-8") }
        var (fields, place) = ([String.UnicodeScalarView()], Place.start)
        for scalar in text.unicodeScalars {
            switch (place, scalar) {
            case (.start, "\""): place = .quoted
            case (.quoted, "\""): place = .closed
            case (.start, ","), (.plain, ","), (.closed, ","):
                fields.append(String.UnicodeScalarView())
                place = .start
            case (.closed, "\""), (.quoted, _):
                fields[fields.count - 1].append(scalar)
                place = .quoted
            case (.closed, _): throw OperatorError("text after a closing quotation mark")
            case (.start, _), (.plain, _):
                fields[fields.count - 1].append(scalar)
                place = .plain
            }
        }
        guard place != .quoted else { throw OperatorError("no closing quotation mark") }
        return fields.map { String($0) }
    }
}
