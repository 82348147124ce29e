import PostgreSQL
import Tasks

/// A statement with its parameters, as a session sends it.
struct Statement: Sendable {
    enum Text: Equatable, Sendable {
        case task(TaskStatement)
        case transaction(TransactionStatement)
    }

    let text: Text
    /// The owner whose tasks the statement concerns, its `$1`; nil if it concerns no owner.
    let owner: Owner?
    let parameters: [Parameter]

    /// A statement about tasks: each concerns one owner, so that it concerns one partition.
    init(_ statement: TaskStatement, of owner: Owner, _ others: [Parameter] = []) {
        text = .task(statement)
        self.owner = owner
        var parameters: [Parameter] = []
        parameters.reserveCapacity(others.count + 1)
        parameters.append(.text(owner.identifier))
        parameters += others
        self.parameters = parameters
    }

    init(_ statement: TransactionStatement, _ parameters: [Parameter] = []) {
        text = .transaction(statement)
        owner = nil
        self.parameters = parameters
    }

    /// The name of the statement in a session in which it was prepared; otherwise its SQL.
    func form(isPrepared: Bool) -> PipelineConnection.Statement {
        switch text {
        case .task(let statement): isPrepared ? .prepared(statement.preparedName) : .text(statement.sql)
        case .transaction(let statement):
            (isPrepared ? statement.preparedName : nil).map { .prepared($0) } ?? .text(statement.sql)
        }
    }
}
