import SQLite
import Tasks

/// Copies the log of committed transactions into the database (a checkpoint), between two transactions of the writer.
///
/// SQLite by itself copies before a commit returns, and the callers would wait. Here the callers have their answers
/// already. One connection writes and copies: versions before 3.51.3 can lose what one connection commits while another
/// begins to copy (https://sqlite.org/wal.html#walreset).
struct LogCopies {
    /// The number of new pages after which the log is copied, some 16 MiB.
    static let pages = 4000
    /// The time that writes wait for readers of an older state, in milliseconds, so that the log can begin anew.
    static let patience: Int32 = 250

    private let observer: @Sendable (StoreEvent) -> Void
    /// The pages of the log at the last copy after which the log could not begin anew; 0 if there was none.
    private var copied = 0
    /// The pages of the log when writes last waited for readers; writes wait again only at twice as many, so that a
    /// backup does not stop them time and again.
    private var waited = Self.pages
    private var isFailing = false

    init(observer: @escaping @Sendable (StoreEvent) -> Void) { self.observer = observer }

    /// The time that a copy of a log of so many pages waits for readers, in milliseconds; nil if no copy is due.
    private mutating func patience(at length: Int) -> Int32? {
        if length < copied { beginAnew() }
        guard length >= copied + Self.pages else { return nil }
        guard length >= 2 * waited else { return 0 }
        waited = length
        return Self.patience
    }

    /// Copies a log that is long, by a checkpoint that says whether the next commit begins the log anew.
    mutating func copy(at length: Int, _ checkpoint: (_ patience: Int32) throws(SQLiteError) -> Bool) {
        guard let patience = patience(at: length) else { return }
        let isCopied = isDone { () throws(SQLiteError) in try checkpoint(patience) }
        if isCopied { beginAnew() } else { copied = length }
    }

    /// Runs a checkpoint; returns what it says, and false after a failure, which is reported once until one succeeds.
    mutating func isDone(_ checkpoint: () throws(SQLiteError) -> Bool) -> Bool {
        do throws(SQLiteError) {
            let isDone = try checkpoint()
            isFailing = false
            return isDone
        } catch {
            // The log stays as it is, and nothing is lost.
            if !isFailing { observer(.checkpointFailed(reason: error.description)) }
            isFailing = true
            return false
        }
    }

    private mutating func beginAnew() { (copied, waited) = (0, Self.pages) }
}
