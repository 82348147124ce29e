package import Tasks

/// A command of which a commit says whether it changed the owner's list.
package protocol ListChangingCommand: TaskCommand {
    /// Whether the list of the owner's tasks differs after this outcome.
    static func changesList(_ outcome: Outcome) -> Bool
}

extension AddTask: ListChangingCommand {
    package static func changesList(_ outcome: AddOutcome) -> Bool {
        switch outcome {
        case .added: true
        case .repeated, .keyReused, .full: false
        }
    }
}

extension ChangeTask: ListChangingCommand {
    package static func changesList(_ outcome: ChangeOutcome) -> Bool {
        switch outcome {
        case .changed: true
        case .missing, .conflict: false
        }
    }
}

extension ChangeTasks: ListChangingCommand {
    package static func changesList(_ outcome: ChangeAllOutcome) -> Bool {
        switch outcome {
        case .changed: true
        case .missing, .conflict: false
        }
    }
}

extension RemoveTask: ListChangingCommand {
    package static func changesList(_ outcome: RemoveOutcome) -> Bool { outcome == .removed }
}

extension RemoveTasks: ListChangingCommand {
    package static func changesList(_ outcome: Int) -> Bool { outcome > 0 }
}
