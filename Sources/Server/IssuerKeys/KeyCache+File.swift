import Basics
import Platform
import Synchronization
import Tokens

// The key file: reading the part of a source at the start, and writing it after each load.
extension KeyCache {
    /// Takes the keys of the file that may still be trusted, as stale (V-88).
    func readFile() {
        guard let file = environment.file else { return }
        let (now, wall) = (time.now, time.wallMilliseconds)
        do throws(OperatorError) {
            let records = try file.read(source, distrusted: distrusted, now: wall, trust: timing.trust) {
                observer(.fileIgnored(reason: $0))
            }
            let taken = records.indices.filter { take(records[$0], document: $0, now: now, wall: wall) }
            guard !taken.isEmpty else { return }
            file.keep(self.records, ofSource: index)
            observer(.fileRead(source: source.name, documents: taken.count))
            reportStateChange(now: now)
        } catch {
            observer(.fileIgnored(reason: error.message))
        }
    }

    private func take(_ record: KeyFile.Record?, document: Int, now: Int64, wall: Int64) -> Bool {
        guard let record else { return false }
        do throws(LoadFailure) {
            try admit(record.keys.issuer, document: document)
        } catch {
            let label = source.label(of: source.documents[document])
            observer(.fileIgnored(reason: "\(label): \(error.message)"))
            return false
        }
        guarded.withLock { guarded in
            guarded.state.restore(
                record.keys, document: document, fetchedAt: record.fetchedAt,
                loadedAt: now - (wall - record.fetchedAt) * 1_000_000)
            publish(&guarded, now: now)
        }
        return true
    }

    private var records: [KeyFile.Record] {
        let states = guarded.withLock { $0.state.documents }
        return zip(states, source.documents).compactMap { state, document in
            state.keys.map { KeyFile.Record(metadataURL: document.metadataURL, keys: $0, fetchedAt: state.fetchedAt) }
        }
    }

    func writeFile() {
        guard let file = environment.file else { return }
        do throws(SystemError) {
            try file.write(records, ofSource: index)
        } catch {
            observer(.fileNotWritten(reason: error.description))
        }
    }
}
