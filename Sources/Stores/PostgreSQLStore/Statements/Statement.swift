import PostgreSQL
import Tasks

/// A statement with its parameters, as a session sends it.
struct Statement: Sendable {
    let kind: TaskStatement
    /// The owner whose tasks the statement concerns, its `$1`; nil if it concerns no owner.
    let owner: Owner?
    let parameters: [Parameter]

    /// The `others` come after the owner.
    init(_ kind: TaskStatement, of owner: Owner? = nil, _ others: [Parameter] = []) {
        self.kind = kind
        self.owner = owner
        parameters = (owner.map { [.text($0.identifier)] } ?? []) + others
    }

    /// The name of the statement in a session in which it was prepared; otherwise its SQL.
    func form(isPrepared: Bool) -> PipelineConnection.Statement {
        isPrepared && kind.isPrepared ? .prepared(kind.preparedName) : .text(kind.sql)
    }
}
