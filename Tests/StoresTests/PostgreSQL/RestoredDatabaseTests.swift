import Platform
import PostgreSQL
import PostgreSQLStore
import Support
import Tasks
import Testing

@Suite("A PostgreSQL database that is put back while servers run")
struct RestoredDatabaseTests {
    private let alice = Owner("alice")

    /// As docs/operate.md restores a database, with and without the line that makes every list another one.
    @Test(arguments: [true, false])
    func `No server shows a list of before, also where a number is taken again`(isAsDocumented: Bool) async throws {
        let address = try PostgreSQLServer.started().newDatabase()
        let folder = try TemporaryFolder()
        let (writer, reader) = (try PostgreSQLTaskStore.open(address), try PostgreSQLTaskStore.open(address))
        defer { for store in [writer, reader] { store.close() } }
        let first = try await writer.added("first", of: alice)
        try PostgreSQLServer.run("pg_dump -Fc -f \(folder.file("copy")) \"$DATABASE\"", of: address)
        let lost = try await writer.added("lost", of: alice)
        let old = try await reader.list(.all, of: alice)
        #expect(old == TaskList(rendering: [first, lost]))
        let point = try await point(of: reader)
        let renewal = "UPDATE public.owners SET change = change + 1, origin = DEFAULT;"
        try PostgreSQLServer.run(
            """
            { pg_restore --clean --if-exists -f - \(folder.file("copy")); echo '\(isAsDocumented ? renewal : "")'; } |
                psql -X -q -1 -v ON_ERROR_STOP=1 "$DATABASE" >&2
            """, of: address)
        let other = try await writer.added("other", of: alice)
        #expect(other.id == lost.id)
        let new = try await reader.list(.all, of: alice)
        #expect(new == TaskList(rendering: [first, other]) && new.entityTag != old.entityTag)
        if isAsDocumented {
            #expect(try await reader.read(ListChanges(owner: alice, since: point, limit: 9)) == .forgotten)
        }
    }

    private func point(of store: PostgreSQLTaskStore) async throws -> ChangePoint? {
        guard case .page(let page) = try await store.read(ListChanges(owner: alice, since: nil, limit: 9)) else {
            return nil
        }
        return page.next
    }

    @Test func `A database whose rows do not know who wrote them serves lists from memory, too`() async throws {
        let server = try PostgreSQLServer.started()
        let name = try server.newDatabaseName()
        try PostgreSQLTaskStore.open(server.address(name)).close()
        // A view has no system columns, as the tables of CockroachDB have none.
        try server.command("ALTER TABLE owners RENAME TO rows; CREATE VIEW owners AS TABLE rows", in: name)
        let store = try PostgreSQLTaskStore.open(server.address(name))
        defer { store.close() }
        let item = try await store.added("x", of: alice)
        for _ in 0..<2 { #expect(try await store.lists([item], of: alice)) }
        #expect(store.statistics.listHits == 1)
        async let lists = [store.list(.all, of: alice), store.list(.all, of: Owner("bob"))]
        #expect(try await lists == [TaskList(rendering: [item]), TaskList(rendering: [])])
    }
}
