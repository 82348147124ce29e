import SQLite
import Tasks

/// A read that waits for a reader's thread, and answers by itself, unless it fails.
protocol PendingRead: Sendable {
    /// Reads and answers; what fails is refused by the caller.
    func run(on tables: borrowing ReadTables) throws(SQLiteError)
    /// Answers with an error.
    func refuse(_ error: StoreError)
}

struct PendingFind: PendingRead {
    let id: Int64
    let owner: Owner
    let reply: Reply<TaskItem?>

    func run(on tables: borrowing ReadTables) throws(SQLiteError) {
        reply.answer(.success(try tables.find(id, of: owner)))
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}

struct PendingPage: PendingRead {
    let query: TaskQuery
    let owner: Owner
    let reply: Reply<TaskList>

    func run(on tables: borrowing ReadTables) throws(SQLiteError) {
        reply.answer(try tables.list(query, of: owner))
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}

/// Everything of an owner, for the memory and for all who wait for it there.
struct PendingLoad: PendingRead {
    let owner: Owner
    let load: ListMemory.Load
    let memory: ListMemory
    /// Called between reading and keeping; tests let a write come in between.
    let afterRead: @Sendable () -> Void

    func run(on tables: borrowing ReadTables) throws(SQLiteError) {
        let list = try tables.list(.all, of: owner)
        afterRead()
        memory.finish(load, of: owner, with: list)
    }

    func refuse(_ error: StoreError) {
        memory.finish(load, of: owner, with: .failure(error))
    }
}
