import Platform

/// Notices that another program wrote to a database file in place, as `cp` does with a copy.
///
/// With a log, SQLite writes to the file in checkpoints only, and each one, of whatever program, moves the marks in the
/// index of the log (sqlite.org/walformat.html). So a file that changed while the marks stayed was overwritten.
struct OverwriteWatch: ~Copyable {
    /// The salts of the log, and the counts of the pages that are in the file and that may be in it.
    struct Marks: Equatable {
        let salts: [UInt8]
        let copied: [UInt8]
        let attempted: [UInt8]

        /// Whether a checkpoint is under way, or ended in the middle: it may write at any time.
        var isCopying: Bool { copied != attempted }
    }

    private var index: WatchedFile?
    private var marks: Marks?
    /// The file as it was after the marks had lasted from one look to the next; nil before.
    private var stamp: FileStamp?
    private var isOverwritten = false

    init() {}

    /// Looks at the file and the index of its log; returns whether the file was ever overwritten.
    mutating func look(at file: borrowing FileLock, index path: String) -> Bool {
        if index == nil { index = try? WatchedFile(path) }
        let earlier = readMarks()
        let stamp = file.stamp
        guard let marks = readMarks(), marks == earlier, let stamp else { return isOverwritten }
        return note(marks, stamp)
    }

    /// Notes the marks and the file of a look; returns whether the file was ever overwritten.
    mutating func note(_ marks: Marks, _ stamp: FileStamp) -> Bool {
        let isComparable = marks == self.marks && !marks.isCopying
        if isComparable, let known = self.stamp, known != stamp { isOverwritten = true }
        self.marks = marks
        self.stamp = isComparable ? stamp : nil
        return isOverwritten
    }

    private func readMarks() -> Marks? {
        guard let bytes = index?.bytes(at: 0, count: 132), bytes.count == 132 else { return nil }
        return Marks(
            salts: Array(bytes[32..<40]), copied: Array(bytes[96..<100]), attempted: Array(bytes[128..<132]))
    }
}
