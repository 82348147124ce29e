import Tasks

extension Observation {
    /// Logs an event of the store.
    func observe(_ event: StoreEvent) {
        switch event {
        case .created(let version): log.write(.info, "database-created") { $0.number("schema", version) }
        case .migrated(let from, let to):
            log.write(.info, "database-migrated") { line in
                line.number("schemaBefore", from)
                line.number("schema", to)
            }
        case .commitFailed(let reason): ration(.error, "commit-failed", reason)
        case .diskFull(let reason): ration(.error, "disk-full", reason)
        case .recovered: ration(.info, "commits-recovered", nil)
        case .checkpointFailed(let reason): ration(.error, "checkpoint-failed", reason)
        case .displaced(let reason): ration(.error, "database-file-lost", reason)
        case .replaced: ration(.info, "database-file-back", nil)
        case .damaged(let reason): ration(.error, "database-damaged", reason)
        case .connectionLost(let reason): ration(.error, "database-lost", reason)
        case .connected: ration(.info, "database-connected", nil)
        case .sessionsShared: log.write(.info, "database-sessions-shared")
        case .closed(let checkpointed):
            log.write(.info, "database-closed") { line in
                if let checkpointed { line.text("log", checkpointed ? "emptied" : "kept") }
            }
        }
    }
}
