import Basics
import OwnerMoves
import Platform
import Synchronization
import TaskArchive
import Tasks

/// `task-server delete-owner OWNER`: removes everything of a person, or says what that would remove.
func deleteOwner(_ settings: ServerSettings, _ name: String) throws(OperatorError) -> ExitStatus {
    let owner = try Owner(named: name)
    let applies = settings.command.move.applies
    let text = try contents(of: owner, settings.storage, for: applies ? .change : .read)
    guard applies else {
        StandardStream.output.print(
            "\(owner.identifier) has \(text). This is a dry run: nothing is changed. With --apply they are deleted for good."
        )
        return .success
    }
    let store = try OpenStore(settings.storage) { _ in }.store
    defer { store.close() }
    try rethrowing(as: { $0.advising("run the same command again to continue") }) { () throws(OperatorError) in
        try remove(owner, from: store)
    }
    StandardStream.output.print(
        "\(text) of \(owner.identifier) deleted. Earlier backups and exports still have them.")
    return .success
}

/// What a database has of an owner; the database is closed again.
private func contents(
    of owner: Owner, _ storage: StorageSettings, for use: TableUse
) throws(OperatorError) -> String {
    let tables = try storage.taskDatabase().open(for: use)
    guard let contents = try tables.contents(of: owner) else { throw .unknownOwner(owner) }
    return "\(contents.tasks.counted("task")) and \(contents.keys.counted("idempotency key"))"
}

/// Removes everything of an owner as a request of the person does.
private func remove(_ owner: Owner, from store: any TaskStore) throws(OperatorError) {
    let time = SystemTime().wallMilliseconds
    let command = RemoveOwner(owner: owner, issued: time, time: time)
    let failure = Mutex<StoreError?>(nil)
    let end = Wakeup()
    _ = store.perform(command) { result in
        if case .failure(let error) = result { failure.withLock { $0 = error } }
        end.wake()
    }
    end.wait()
    if let failure = failure.withLock({ $0 }) { throw .databaseFailed("\(failure)") }
}
