/// What a person may add to a task; most tasks have none of it.
package struct TaskDetails: Sendable, Equatable {
    package var due: DueDate?
    package var notes: TaskNotes?
    package var position: TaskPosition?

    package init(due: DueDate? = nil, notes: TaskNotes? = nil, position: TaskPosition? = nil) {
        self.due = due
        self.notes = notes
        self.position = position
    }

    /// Whether nothing is set.
    package var isEmpty: Bool { due == nil && notes == nil && position == nil }
}

/// A change of the details of a task.
package struct TaskDetailsChange: Sendable, Equatable {
    /// A change of one of them.
    package enum Member<Value: Sendable & Equatable>: Sendable, Equatable {
        case keep
        /// To this value, or to none.
        case set(Value?)

        /// Whether it is named at all; its value may be the same as before.
        package var isSet: Bool { self != .keep }

        /// What it is set to; nil if it is removed or kept.
        package var value: Value? {
            guard case .set(let value) = self else { return nil }
            return value
        }

        fileprivate func applied(to old: Value?) -> Value? {
            switch self {
            case .keep: old
            case .set(let value): value
            }
        }
    }

    package var due = Member<DueDate>.keep
    package var notes = Member<TaskNotes>.keep
    package var position = Member<TaskPosition>.keep

    package init(
        due: Member<DueDate> = .keep, notes: Member<TaskNotes> = .keep, position: Member<TaskPosition> = .keep
    ) {
        self.due = due
        self.notes = notes
        self.position = position
    }

    /// Whether nothing is named.
    package var isEmpty: Bool { !due.isSet && !notes.isSet && !position.isSet }

    /// The details after the change.
    package func applied(to old: TaskDetails) -> TaskDetails {
        TaskDetails(
            due: due.applied(to: old.due), notes: notes.applied(to: old.notes),
            position: position.applied(to: old.position))
    }
}
