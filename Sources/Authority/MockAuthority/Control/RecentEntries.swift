import Synchronization

/// The last entries of a list that goes on, each with its number from 1 on.
final class RecentEntries<Entry: Sendable>: Sendable {
    struct Numbered: Sendable {
        let number: Int
        let entry: Entry
    }

    private let kept = Mutex<(entries: [Numbered], count: Int)>(([], 0))
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func append(_ entry: Entry) {
        kept.withLock { kept in
            kept.count += 1
            if kept.entries.count >= limit { kept.entries.removeFirst() }
            kept.entries.append(Numbered(number: kept.count, entry: entry))
        }
    }

    /// The entries of higher numbers than this one, oldest first.
    func after(_ number: Int) -> [Numbered] { kept.withLock { $0.entries.filter { $0.number > number } } }
}

/// A token of a run, so that people can see what a client got.
///
/// Tokens are shown on the page for developers only, and are in no log.
struct IssuedToken: Sendable {
    /// Seconds since 1970, by the clock of the run.
    let time: Int64
    /// The compact form.
    let token: String
    var defect: String?
}
