import Platform
import Synchronization

/// The key file as the token sources share it: each replaces its own part, and keeps those of the others (V-88).
final class KeyFileShare: Sendable {
    let file: KeyFile
    /// By the index of the source.
    private let records: Mutex<[[KeyFile.Record]]>

    init(_ path: String, sources: Int) {
        file = KeyFile(path: path)
        records = Mutex(Array(repeating: [], count: sources))
    }

    /// Takes what the file has of a source, so that the others do not remove it when they write.
    func keep(_ part: [KeyFile.Record], ofSource source: Int) {
        records.withLock { $0[source] = part }
    }

    /// Writes the file with a new part of this source.
    ///
    /// One after the other: an older file must not replace a newer one.
    func write(_ part: [KeyFile.Record], ofSource source: Int) throws(SystemError) {
        try records.withLock { (records) throws(SystemError) in
            records[source] = part
            try file.write(records.flatMap(\.self))
        }
    }
}
