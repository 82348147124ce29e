import Basics
import Platform

/// Reads the pairs of a map in one of its three forms.
///
/// The first line decides: one that begins as `{"old":…` begins lines of JSON, any other `{` the audit file of Microsoft's
/// tool, and all else is comma-separated. Memory for one line is needed, or for the audit file, which is limited.
struct OwnerMapReader {
    private enum Form {
        case unknown, table, jsonLines
        /// What was read is no map, and no more of it is read.
        case none
        case audit(MigrationAudit)
    }

    /// The mistakes until now.
    private(set) var faults = MoveReport.Sample<String>(most: 50)
    private var form = Form.unknown
    /// Of the last line, or of the last user of an audit file.
    private(set) var number = 0

    /// What numbers count.
    var unit: String { if case .audit = form { "user" } else { "line" } }

    /// The next pair without a mistake, whose number is then ``number``; nil at the end.
    mutating func next(_ nextLine: LineInput) throws(OwnerMoveError) -> OwnerPair? {
        while true {
            if case .audit(let audit) = form {
                guard number < audit.count else { return nil }
                number += 1
                let position = number - 1
                let result = Result { () throws(OwnerPair.Fault) in try audit.pair(position) }
                if let pair = accepted(result) { return pair }
                continue
            }
            if case .none = form { return nil }
            guard let line = try line(nextLine) else { return nil }
            guard line.contains(where: { $0 != UInt8(ascii: " ") }) else { continue }
            if case .unknown = form {
                guard try !begin(with: line, nextLine) else { continue }
            }
            let result = Result { () throws(OwnerPair.Fault) in try pair(line) }
            if let pair = accepted(result) { return pair }
        }
    }

    /// Counts a mistake of the pair of this number.
    mutating func refuse(_ number: Int, _ reason: String) {
        let unit = unit
        faults.append("\(unit) \(number): \(reason)")
    }

    /// The pair, or nil and a mistake more.
    private mutating func accepted(_ pair: Result<OwnerPair, OwnerPair.Fault>) -> OwnerPair? {
        do throws(OwnerPair.Fault) {
            return try pair.get()
        } catch {
            refuse(number, error.reason)
            return nil
        }
    }

    private mutating func line(_ nextLine: LineInput) throws(OwnerMoveError) -> [UInt8]? {
        do throws(SystemError) {
            guard let line = try nextLine() else { return nil }
            number += 1
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return number == 1 && line.starts(with: mark) ? Array(line.dropFirst(mark.count)) : line
        } catch {
            throw .file(SystemError(code: error.code, operation: "read line \(number + 1) of the map"))
        }
    }

    private func pair(_ line: [UInt8]) throws(OwnerPair.Fault) -> OwnerPair {
        guard line.count <= OwnerPair.longestLine else {
            throw OwnerPair.Fault(reason: "longer than \(OwnerPair.longestLine) bytes")
        }
        if case .table = form { return try OwnerPair(separatedByComma: line) }
        return try OwnerPair(json: line)
    }

    /// Decides the form by the first line; true if that is no pair: the head of a table, or a part of an audit file.
    private mutating func begin(with line: [UInt8], _ nextLine: LineInput) throws(OwnerMoveError) -> Bool {
        guard line.first == UInt8(ascii: "{") else {
            form = .table
            return OwnerPair.isHead(line)
        }
        form = .jsonLines
        guard !Self.namesOld(line.prefix(OwnerPair.longestLine)) else { return false }
        try readAudit(from: line, nextLine)
        return true
    }

    /// Whether an object has a member `old`, as a malformed pair may have, too.
    private static func namesOld(_ line: ArraySlice<UInt8>) -> Bool {
        let pieces = line.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        return zip(pieces, pieces.dropFirst()).contains { piece, next in
            piece.elementsEqual("old".utf8) && next.first { $0 != UInt8(ascii: " ") } == UInt8(ascii: ":")
        }
    }

    private mutating func readAudit(from first: [UInt8], _ nextLine: LineInput) throws(OwnerMoveError) {
        var all = first
        while all.count <= MigrationAudit.longest, let line = try line(nextLine) {
            all.append(UInt8(ascii: "\n"))
            all += line
        }
        guard let audit = MigrationAudit(all) else {
            form = .none
            return refuse(
                1,
                #"neither {"old":"…","new":"…"} nor the beginning of an audit file of the migration tool, which is one JSON "#
                    + "object with SuccessfulUsers, of at most \(MigrationAudit.longest >> 20) MiB")
        }
        form = .audit(audit)
        number = 0
    }
}
