import TaskStores

extension Observation {
    /// What happens to the store.
    func observe(_ event: StoreEvent) {
        switch event {
        case .created(let version): log.write(.info, "database-created") { $0.number("version", version) }
        case .migrated(let from, let to):
            log.write(.info, "database-migrated") { line in
                line.number("from", from)
                line.number("to", to)
            }
        case .commitFailed(let reason): log.write(.error, "commit-failed") { $0.text("reason", reason) }
        case .diskFull(let reason): log.write(.error, "disk-full") { $0.text("reason", reason) }
        case .recovered: log.write(.info, "commits-recovered")
        case .changedByOthers: log.write(.info, "database-changed-by-others")
        case .connectionLost(let reason): log.write(.error, "database-lost") { $0.text("reason", reason) }
        case .connected: log.write(.info, "database-connected")
        case .sessionsShared: log.write(.info, "database-sessions-shared")
        case .closed(let checkpointed):
            log.write(.info, "database-closed") { $0.text("log", checkpointed ? "emptied" : "kept") }
        }
    }
}
