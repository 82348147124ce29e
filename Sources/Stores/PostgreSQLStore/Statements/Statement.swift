import PostgreSQL
import Tasks

/// A statement with its parameters, as a session sends it.
struct Statement: Sendable {
    let text: TaskStatement
    /// The owner whose tasks the statement concerns, its `$1`; nil if it concerns no owner.
    let owner: Owner?
    let parameters: [Parameter]

    /// The `others` come after the owner.
    init(_ text: TaskStatement, of owner: Owner? = nil, _ others: [Parameter] = []) {
        self.text = text
        self.owner = owner
        parameters = (owner.map { [.text($0.identifier)] } ?? []) + others
    }

    /// The name of the statement in a session in which it was prepared; otherwise its SQL.
    func form(isPrepared: Bool) -> PipelineConnection.Statement {
        isPrepared && text.isPrepared ? .prepared(text.preparedName) : .text(text.sql)
    }

    /// What rows say that this statement gave.
    func answer(_ rows: borrowing Rows) -> Answer {
        guard rows.count > 0, let owner else { return .nothing }
        do throws(ForeignValue) {
            return try text.answer(rows, of: owner)
        } catch {
            return .unreadable(StoreError(error))
        }
    }
}
