import SQLite
import Tasks

/// A read that waits for a reader's thread, and answers by itself.
protocol PendingRead: Sendable {
    /// Reads and answers.
    func run(on tables: borrowing ReadTables)
    /// Answers with an error.
    func refuse(_ error: StoreError)
}

struct PendingFind: PendingRead {
    let id: Int64
    let owner: Owner
    let reply: Reply<TaskItem?>

    func run(on tables: borrowing ReadTables) {
        do throws(SQLiteError) {
            reply.answer(.success(try tables.find(id, of: owner)))
        } catch {
            refuse(StoreError(error))
        }
    }

    func refuse(_ error: StoreError) {
        reply.answer(.failure(error))
    }
}

struct PendingPage: PendingRead {
    let query: TaskQuery
    let owner: Owner
    let reply: Reply<TaskList>

    func run(on tables: borrowing ReadTables) {
        do throws(StoreError) {
            reply.answer(.success(try tables.list(query, of: owner)))
        } catch {
            refuse(error)
        }
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

    func run(on tables: borrowing ReadTables) {
        do throws(StoreError) {
            let list = try tables.list(.all, of: owner)
            afterRead()
            memory.finish(load, of: owner, with: .success(list))
        } catch {
            refuse(error)
        }
    }

    func refuse(_ error: StoreError) {
        memory.finish(load, of: owner, with: .failure(error))
    }
}
