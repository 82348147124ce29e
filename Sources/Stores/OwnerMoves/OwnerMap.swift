import Basics
package import Platform
import Tasks

/// A map of owners without contradictions: no one is moved twice, and no one is moved to an owner who is moved as well.
///
/// It is read from comma-separated values, a pair on each line, perhaps with a first line `old,new`.
package struct OwnerMap: Sendable {
    struct Entry: Sendable {
        let number: Int
        let pair: OwnerPair
        /// Whether an earlier line has the same new owner.
        let followsAnother: Bool
    }

    /// The mistakes in a map, each a line for a person, with its place.
    package struct Mistakes: Error {
        package fileprivate(set) var lines = MoveReport.Sample<String>(most: 50)
    }

    /// In the order of the lines.
    private(set) var entries: [Entry] = []
    /// The namespaces of the new owners, each with its first line; an empty name for owners without a namespace.
    package private(set) var newNamespaces: [String: Int] = [:]
    /// The namespaces of the old owners; an empty name for owners without a namespace.
    private(set) var oldNamespaces: Set<String> = []
    /// The last line that has an owner as the old one.
    private var linesByOld: [Owner: Int] = [:]
    /// The last line that has an owner as the new one.
    private var linesByNew: [Owner: Int] = [:]

    package var count: Int { entries.count }

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

    /// The next line.
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
        entries.append(Entry(number: number, pair: pair, followsAnother: lineOfNew != nil))
        oldNamespaces.insert(pair.old.namespace ?? "")
        let name = pair.new.namespace ?? ""
        if newNamespaces[name] == nil { newNamespaces[name] = number }
        if let lineOfOld { throw OperatorError("the old owner of line \(lineOfOld) again") }
        guard let lineOfNew, !merging else { return }
        throw OperatorError(
            "the new owner of line \(lineOfNew) again: their lists are put together only with --merge")
    }

    /// Whether a pair names this owner, as the old one or the new one.
    func mentions(_ owner: Owner) -> Bool { linesByOld[owner] != nil || linesByNew[owner] != nil }
}
