package import Basics
import Platform
import SQLite
import Tasks

extension SQLiteFile {
    /// What the next start finds in a file that it can use.
    package enum Condition: Sendable, Equatable {
        case upToDate
        /// Tables of an older program.
        case outdated
        /// Nothing at all.
        case empty
    }

    /// Opens a file that exists as a start does, except that its tables are neither made nor brought up to date.
    package func check() throws(OperatorError) -> Condition {
        let lock = try lock()
        // The lock is given up when the connections are closed, see ``Platform/FileLock``.
        defer { withExtendedLifetime(lock) {} }
        return try condition()
    }

    // This function catches errors itself, because a closure cannot consume the connection.
    private func condition() throws(OperatorError) -> Condition {
        let connection = try connectForWriting()
        let version = try checkedVersion(of: connection)
        do throws(SQLiteError) {
            switch version {
            case 0: return .empty
            case SQLiteSchema.known:
                _ = try SQLiteTransaction.compiled(on: connection, answers: AnswerMemory())
                return .upToDate
            default:
                _ = try connection.integer("SELECT count(*) FROM sqlite_master")
                return .outdated
            }
        } catch {
            throw openError(error)
        }
    }
}
