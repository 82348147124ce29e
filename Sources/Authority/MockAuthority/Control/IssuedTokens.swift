import Synchronization

/// The last tokens of a run, so that people can see what a client got.
///
/// They are shown on the developer page only, and are in no log.
final class IssuedTokens: Sendable {
    struct Entry: Sendable {
        /// Seconds since 1970, by the clock of the run.
        let time: Int64
        /// The compact form.
        let token: String
        /// The name of the defect, if the token was asked for with one.
        let defect: String?
    }

    private let entries = Mutex(RecentEntries<Entry>(limit: 50))

    /// The entries of higher numbers than this one, oldest first.
    func after(_ number: Int) -> [RecentEntries<Entry>.Numbered] { entries.withLock { $0.after(number) } }

    func note(_ token: String, now: Int64, defect: String? = nil) {
        entries.withLock { $0.append(Entry(time: now, token: token, defect: defect)) }
    }
}
