import Basics
import OwnerMoves
import Platform
import TaskArchive
import Tasks

/// `task-server delete-owner OWNER`: removes everything of a person, or says what that would remove.
func deleteOwner(_ settings: ServerSettings, _ name: String) throws(OperatorError) -> ExitStatus {
    let owner = try Owner(named: name)
    let applies = settings.command.move.applies
    let tables = try settings.storage.taskDatabase().open(for: applies ? .change : .read)
    guard let contents = try tables.contents(of: owner) else { throw .unknownOwner(owner) }
    let text = "\(contents.tasks.counted("task")) and \(contents.keys.counted("idempotency key"))"
    guard applies else {
        StandardStream.output.print(
            "\(owner.identifier) has \(text). This is a dry run: nothing is changed. With --apply they are deleted for good."
        )
        return .success
    }
    try rethrowing(as: { $0.advising("run the same command again to continue") }) { () throws(OperatorError) in
        try tables.remove(owner, at: SystemTime().wallMilliseconds)
    }
    StandardStream.output.print(
        "\(text) of \(owner.identifier) deleted. Earlier backups and exports still have them.")
    return .success
}
