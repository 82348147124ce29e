import Basics
import JSON
import OwnerMoves
import Platform
import Support
import TaskArchive
import Tasks
import Testing

@Suite("Every database moves people beside deletions, damaged rows and keys in use")
struct MoveTroubleTests {
    private let old = Owner("old")
    private let new = Owner("ext:new")
    private let other = Owner("other")
    private let start = SystemTime().wallMilliseconds

    /// Notes that an owner was deleted before this id was given, as the first transaction of a deletion does.
    private func mark(_ owner: Owner, before id: Int, in place: MovablePlace) throws {
        try place.run(
            "UPDATE owners SET deleted = \(start), first_id = \(id) WHERE owner = '\(owner.identifier)'")
    }

    @Test(arguments: MovableStore.all)
    func `What a deletion has still to remove is not moved, and is gone afterwards`(kind: MovableStore) async throws {
        try await kind.with { place in
            for text in ["left", "left", "since"] { _ = try await place.store.added(text, of: old) }
            try mark(old, before: 3, in: place)
            for _ in 1...2 { _ = try await place.store.added("left", of: new) }
            try mark(new, before: 3, in: place)
            for _ in 1...2 { _ = try await place.store.added("left", of: other) }
            try mark(other, before: 3, in: place)
            let pairs = [(old, new), (other, Owner("ext:other"))]
            let plan = try place.plan(pairs)
            #expect((plan.moved.people, plan.moved.tasks, plan.renumbered, plan.empty.count) == (1, 1, 0, 1))
            #expect(try place.move(pairs) == plan)
            #expect(try await place.store.lists([], of: old))
            #expect(try await place.store.find(3, of: new)?.text.value == "since")
            #expect(try await place.store.lists([], of: Owner("ext:other")))
            #expect(try await place.store.added("next", of: Owner("ext:other")).id == 3)
            // A repeated request of the new owner removes what was left, and nothing that was moved.
            try await place.store.perform(RemoveOwner(owner: new, issued: start, time: start))
            #expect(try await place.store.found(1...9, of: new) == [3])
        }
    }

    @Test(arguments: MovableStore.all)
    func `An owner whose first task comes between two reads is not lost`(kind: MovableStore) async throws {
        try await kind.with { place in
            for owner in [old, other] { _ = try await place.store.added("x", of: owner) }
            let interrupted = interrupting(try place.mover(onlyReads: true)) {
                for (table, columns) in [
                    ("owners", "next_id, tasks"), ("tasks", "id, text, completed, created, modified, revision"),
                ] {
                    try place.run(
                        "INSERT INTO \(table)(owner, \(columns)) SELECT '\(new.identifier)', \(columns) "
                            + "FROM \(table) WHERE owner = '\(other.identifier)'")
                }
            }
            let plan = try interrupted.plan(OwnerMap.of([(old, new)], merging: false), merging: false)
            #expect((plan.moved.people, plan.isWhole) == (1, true))
            #expect(try place.plan([(old, new)]).conflicts.count == 1)
        }
    }

    @Test(arguments: MovableStore.all)
    func `A plan of a merge says which lists keep their ids`(kind: MovableStore) async throws {
        try await kind.with { place in
            for owner in [other, old, old] { _ = try await place.store.added("x", of: owner) }
            // The first line gives the id 1, and the second brings the id 2.
            #expect(try await place.store.remove(1, of: old))
            let none = Owner("none")
            _ = try await place.store.added("x", of: none)
            #expect(try await place.store.remove(1, of: none))
            let pairs = [(other, new), (old, new), (none, Owner("ext:none")), (Owner("never"), Owner("ext:none"))]
            let plan = try place.plan(pairs, merging: true)
            #expect((plan.moved.people, plan.merged.people, plan.renumbered, plan.empty.count) == (1, 1, 0, 2))
            #expect(try place.move(pairs, merging: true) == plan)
            #expect(try await place.store.found(1...9, of: new) == [1, 2])
        }
    }

    @Test(arguments: MovableStore.all)
    func `The new owner's keys keep their promise beside tasks that move in`(kind: MovableStore) async throws {
        try await kind.with { place in
            let key = IdempotencyKey(key: "k", fingerprint: 7)
            let item = try await place.store.added("mine", at: start, key: key, of: new)
            if place.isFile { place.store.close() }
            _ = try place.archive.add((1...1500).map { exportLine(old.identifier, $0) })
            try place.move([(old, new)], merging: true)
            #expect(try await place.store.add("mine", at: start, key: key, of: new) == .repeated(item))
            for number in 1...2 {
                let other = IdempotencyKey(key: "other \(number)", fingerprint: 7)
                _ = try await place.store.added("next", at: start, key: other, of: new)
            }
            #expect(try await place.store.add("mine", at: start, key: key, of: new) == .repeated(item))
        }
    }

    @Test(
        "What stops a move names the line and its owners, and the lines before it are moved",
        arguments: MovableStore.all)
    func damaged(kind: MovableStore) async throws {
        let damages = [
            ("UPDATE owners SET next_id = -1 WHERE owner = 'old'", "a number in the table of owners"),
            ("UPDATE owners SET next_id = -1 WHERE owner = 'ext:new'", "a number in the table of owners"),
            ("UPDATE tasks SET text = '' WHERE owner = 'old'", "a text in the table of tasks"),
            ("DELETE FROM owners WHERE owner = 'old'", "the table owners lacks"),
            ("DELETE FROM owners WHERE owner = 'ext:new'", "the table owners lacks"),
        ]
        for (damage, reason) in damages {
            try await kind.with { place in
                for owner in [other, old, new] { _ = try await place.store.added("x", of: owner) }
                try place.run(damage)
                let pairs = [(Owner("none"), Owner("ext:none")), (other, Owner("ext:other")), (old, new)]
                let error = #expect(throws: OperatorError.self, "\(damage)") { try place.move(pairs, merging: true) }
                let start = "line 3 of the map (old to ext:new): the database failed: \(reason)"
                #expect(error?.failure.hasPrefix(start) == true, "\(damage): \(String(describing: error))")
                #expect(try await place.store.found(1...9, of: Owner("ext:other")) == [1])
                guard !damage.contains("text") else { return }
                let planned = #expect(throws: OperatorError.self) { try place.plan(pairs, merging: true) }
                #expect(planned?.failure.hasPrefix(start) == true, "\(damage): \(String(describing: planned))")
            }
        }
    }

    @Test(arguments: MovableStore.all)
    func `Tables can be read after a snapshot in which a statement failed`(kind: MovableStore) async throws {
        try await kind.with { place in
            _ = try await place.store.added("x", of: old)
            try expectUsable(try place.mover(onlyReads: true))
        }
    }

    private func expectUsable<Tables: OwnerTables>(_ tables: Tables) throws {
        let overflow = TableColumn.integer("abs(-9223372036854775807 - 1)")
        #expect(throws: Tables.Failure.self) {
            try tables.snapshot { () throws(Tables.Failure) in
                _ = try tables.rows([overflow], "FROM owners", []) { $0(0) }
            }
        }
        #expect(try tables.contents(of: old)?.tasks == 1)
    }
}

/// Returns tables that let an event happen after the first read.
private func interrupting<Tables: OwnerTables>(
    _ tables: Tables, by event: @escaping () throws -> Void
) -> any OwnerTables {
    InterruptedTables(tables: tables, event: event)
}

private final class InterruptedTables<Tables: OwnerTables>: OwnerTables {
    private let tables: Tables
    private var event: (() throws -> Void)?

    init(tables: Tables, event: @escaping () throws -> Void) {
        (self.tables, self.event) = (tables, event)
    }

    var isDistributed: Bool { tables.isDistributed }

    func rows<Row>(
        _ columns: [TableColumn], _ source: String, _ values: [JSONValue],
        _ read: ((Int) -> JSONValue) throws(ForeignValue) -> Row
    ) throws(Tables.Failure) -> [Row] {
        defer {
            try? event?()
            event = nil
        }
        return try tables.rows(columns, source, values, read)
    }

    func snapshot<Outcome>(_ body: () throws(Tables.Failure) -> Outcome) throws(Tables.Failure) -> Outcome {
        try tables.snapshot(body)
    }

    func transaction<Outcome>(
        locking owners: [Owner], _ body: () throws(Tables.Failure) -> Outcome
    ) throws(Tables.Failure) -> Outcome {
        try tables.transaction(locking: owners, body)
    }

    func outcomes<Command: TaskCommand>(
        of commands: [Command]
    ) throws(Tables.Failure) -> [Result<Command.Outcome, StoreError>] {
        try tables.outcomes(of: commands)
    }

    static func operatorError(_ failure: Tables.Failure) -> OperatorError { Tables.operatorError(failure) }
}
