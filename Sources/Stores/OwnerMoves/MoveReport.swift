package import Tasks

/// The report of a move that is planned, under way or done.
package struct MoveReport: Sendable, Equatable {
    /// The first elements of many, and the number of all.
    package struct Sample<Element: Sendable & Equatable>: Sendable, Equatable {
        package private(set) var first: [Element] = []
        package private(set) var count = 0

        mutating func append(_ element: Element) {
            count += 1
            if first.count < 50 { first.append(element) }
        }
    }

    /// A pair of the map, and the numbers of tasks of its owners.
    package struct Line: Sendable, Equatable {
        package let number: Int
        package let pair: OwnerPair
        package var oldTasks: Int64 = 0
        package var newTasks: Int64 = 0
    }

    package struct Tally: Sendable, Equatable {
        package private(set) var people = 0
        package private(set) var tasks: Int64 = 0

        mutating func add(_ tasks: Int64) {
            people += 1
            self.tasks += tasks
        }
    }

    /// The people who are moved to a new owner without tasks.
    package internal(set) var moved = Tally()
    /// The people whose tasks come after those that the new owner has.
    package internal(set) var merged = Tally()
    /// The moved and merged people whose tasks get other ids.
    package internal(set) var renumbered = 0
    /// The people who stay, because the new owner has tasks.
    package internal(set) var conflicts = Sample<Line>()
    /// The people without tasks to move: they were moved before, or never had any.
    package internal(set) var empty = Sample<Line>()
    /// Whether the report has all pairs of the map; a command that was stopped reports only some.
    package internal(set) var isWhole = false

    /// The pairs that were looked at until now.
    package var pairs: Int { moved.people + merged.people + conflicts.count + empty.count }

    mutating func add(_ outcome: MoveOutcome, of entry: OwnerMap.Entry) {
        switch outcome {
        case .nothing: empty.append(Line(number: entry.number, pair: entry.pair))
        case .conflict(let old, let new):
            conflicts.append(Line(number: entry.number, pair: entry.pair, oldTasks: old, newTasks: new))
        case .moved(let tasks, let hasNewIDs, let isMerged):
            if isMerged { merged.add(tasks) } else { moved.add(tasks) }
            if hasNewIDs { renumbered += 1 }
        }
    }
}

/// The owners of a database with tasks whom a map does not name.
package struct UnmappedOwners: Sendable, Equatable {
    package struct Known: Sendable, Equatable {
        package let owner: Owner
        package let tasks: Int64
    }

    /// The owners in the namespaces out of which the map moves someone.
    package internal(set) var sample = MoveReport.Sample<Known>()
    /// The number of owners in other namespaces, by name; the name is empty for owners without a namespace.
    package internal(set) var elsewhere: [String: Int] = [:]
}
