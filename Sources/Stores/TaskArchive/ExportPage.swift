import Platform
import Tasks

/// Some people with all their tasks, as they were at one moment.
struct ExportPage {
    /// How many people are looked at for a page, and how many tasks and idempotency keys they may have together.
    ///
    /// One person is never divided, so a page is in memory as a whole.
    static let most = (people: 500, rows: Int64(3000))

    /// A row of the table of owners.
    struct Person {
        let name: String
        let next: Int64
        let tasks: Int64
    }

    /// Ordered by the bytes of their names.
    private(set) var people: [Person] = []
    /// Ordered by owner and id.
    var tasks: [TaskItem] = []
    /// Those that are remembered now, ordered by owner and key.
    var attempts: [Attempt] = []

    /// Of these people, who follow each other, as many as make a page.
    init(_ candidates: [Person]) {
        var sum: Int64 = 0
        for person in candidates {
            sum += person.tasks + min(person.next - 1, IdempotencyKey.remembered)
            guard people.isEmpty || sum <= Self.most.rows else { return }
            people.append(person)
        }
    }

    /// Whether all that is there is of these people, so that nothing is left out.
    var isWhole: Bool { areThere(tasks.lazy.map(\.owner)) && areThere(attempts.lazy.map(\.item.owner)) }

    /// How many tasks there should be by the rows of their owners, if there are more or less.
    ///
    /// A page of the database that lost its rows would else be missing without a word.
    var expectedTasks: Int64? {
        let expected = people.reduce(0) { $0 + $1.tasks }
        return expected == tasks.count ? nil : expected
    }

    private func areThere(_ owners: some Sequence<Owner>) -> Bool {
        var rest = people[...]
        for owner in owners {
            rest = rest.drop { Owner($0.name) != owner }
            if rest.isEmpty { return false }
        }
        return true
    }

    /// The lines: of each person the tasks, the idempotency keys, and the next id where no task tells it.
    func write(_ output: (ArchiveLine) throws(SystemError) -> Void) throws(SystemError) {
        var (rest, attempts) = (tasks[...], attempts[...])
        for person in people {
            let owner = Owner(person.name)
            var next: Int64 = 1
            while let item = rest.first, item.owner == owner {
                try output(.task(item))
                next = item.id + 1
                rest.removeFirst()
            }
            while let attempt = attempts.first, attempt.item.owner == owner {
                try output(.attempt(attempt))
                attempts.removeFirst()
            }
            if person.next > next { try output(.owner(owner, next: person.next)) }
        }
    }
}

/// A database that gives its people page by page.
protocol ExportSource: ~Copyable {
    /// The people behind this one; nobody behind the last, and then a task only if it has no owner.
    borrowing func page(after owner: String) throws(ArchiveError) -> ExportPage
}

extension ExportSource where Self: ~Copyable {
    /// See ``LineArchive/export(_:to:goOn:)``.
    borrowing func export(
        _ start: ExportStart, to output: LineOutput, goOn: (Int) -> Bool
    ) throws(ArchiveError) -> ExportSummary {
        var place = start
        while goOn(place.tasks) {
            let page = try page(after: place.owner)
            guard page.isWhole else { throw .failed(reason: missingOwners) }
            if let expected = page.expectedTasks {
                throw .failed(
                    reason:
                        "the rows of owners count \(expected) tasks of some people, and \(page.tasks.count) are there: "
                        + "it is damaged; restore a backup")
            }
            do throws(SystemError) {
                try page.write { (line) throws(SystemError) in try output(line.json) }
                guard let last = page.people.last else {
                    try output(ArchiveLine.end(tasks: place.tasks, keys: place.keys).json)
                    return ExportSummary(tasks: place.tasks, isWhole: true)
                }
                place.owner = last.name
                place.tasks += page.tasks.count
                place.keys += page.attempts.count
            } catch {
                throw .file(error)
            }
        }
        return ExportSummary(tasks: place.tasks, isWhole: false)
    }
}

private let missingOwners =
    "the table owners lacks people whose tasks or idempotency keys are there; restore it, or add them (next_id: one more than "
    + "their greatest id, tasks: how many they have), then try again"
