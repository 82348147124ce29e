import Platform
import Synchronization

/// The key file that the token sources share: each replaces its own part, and keeps those of the others (V-88).
final class KeyFileShare: Sendable {
    let file: KeyFile
    /// The records by the index of the source.
    private let records: Mutex<[[KeyFile.Record]]>

    init(_ path: String, sources: Int) {
        file = KeyFile(path: path)
        records = Mutex(Array(repeating: [], count: sources))
    }

    /// Takes the records of a source in the file, so that the other sources do not remove them when they write.
    func keep(_ part: [KeyFile.Record], ofSource source: Int) {
        records.withLock { $0[source] = part }
    }

    /// Writes the file with a new part of this source.
    ///
    /// Writes happen one after the other, because an older file must not replace a newer one.
    func write(_ part: [KeyFile.Record], ofSource source: Int) throws(SystemError) {
        try records.withLock { (records) throws(SystemError) in
            records[source] = part
            try file.write(records.flatMap(\.self))
        }
    }
}
