package import Tasks
package import Platform

/// Why a backup, an export or an import stopped.
package enum ArchiveError: Error, Sendable, Equatable {
    /// The database does not open.
    case database(StoreOpenError)
    /// The database failed on the way.
    case failed(reason: String)
    /// No room on the disk.
    case full
    /// The file to be made exists, and is left alone.
    case targetExists(path: String)
    /// The file to be made, read or written gives trouble.
    case file(SystemError)
    /// A line of the import is not one of an export; those before it are in.
    case line(number: Int, reason: String)

    /// One line for a person.
    package var words: String {
        switch self {
        case .database(let error): error.message
        case .failed(let reason): "the database failed: \(reason)"
        case .full: "there is no room on the disk"
        case .targetExists(let path): "\(path) exists, and is not replaced; give another name or move it away"
        case .file(let error): error.description
        case .line(let number, let reason):
            "line \(number): \(reason); the lines before it are imported, and may be repeated"
        }
    }
}
