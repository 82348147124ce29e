import SQLite
import Tasks

/// A read in the queue of a reading thread.
protocol QueuedRead: Sendable {
    /// Reads, and answers with the result.
    func run(on statements: borrowing ReadStatements, _ health: SQLiteHealth)
    /// Answers with an error, without reading.
    func refuse(_ error: StoreError)
}

/// A read as one value: what to run on the statements, and where the result goes.
///
/// Whether the body returns or throws, there is one answer.
struct Read<Outcome: Sendable>: QueuedRead {
    typealias Body = @Sendable (borrowing ReadStatements) throws(SQLiteError) -> Outcome

    let body: Body
    let answer: @Sendable (Result<Outcome, StoreError>) -> Void

    func run(on statements: borrowing ReadStatements, _ health: SQLiteHealth) {
        if let error = health.refusal { return refuse(error) }
        let result: Result<Outcome, StoreError>
        do throws(SQLiteError) {
            result = .success(try body(statements))
        } catch {
            result = .failure(health.record(error))
        }
        answer(result)
    }

    func refuse(_ error: StoreError) { answer(.failure(error)) }
}

/// A read after which the next list of the same owner may be read.
struct ListInTurn: QueuedRead {
    let read: Read<Result<TaskList, StoreError>>
    let finished: @Sendable () -> Void

    func run(on statements: borrowing ReadStatements, _ health: SQLiteHealth) {
        read.run(on: statements, health)
        finished()
    }

    func refuse(_ error: StoreError) { read.refuse(error) }
}
