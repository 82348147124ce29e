import Basics
import JSON
package import Platform
import Synchronization
import Tokens

/// The file that keeps the keys of all token sources over a restart (V-88); see `docs/internals/how-it-works.md`.
///
/// The file holds public keys only, but everyone who can write it can add a key, so its mode is 0600.
package final class KeyFile: Sendable {
    /// One metadata document in the file.
    struct Record: Sendable {
        let metadataURL: String
        let keys: LoadedKeys
        /// The time of the fetch, in milliseconds since 1970.
        let fetchedAt: Int64
    }

    static let longest = 1 << 22
    private let path: String
    /// The records by the index of the source.
    private let parts = Mutex<[Int: [Record]]>([:])

    init(path: String) { self.path = path }

    /// Says that a file with other content is left as it is: the end of a sentence whose subject is the file.
    package static let foreignContent = "holds something else than keys; move it away, or name another file"

    /// Returns whether the path is free, or has an empty file or keys of any version, which keys may replace.
    package static func mayReplace(_ path: String) throws(SystemError) -> Bool {
        guard File.exists(path) else { return true }
        if let size = try File.size(path), size > longest { return false }
        let bytes = try File.read(path, limit: longest)
        let document = try? JSONValue(parsing: bytes, limits: JSONLimits(bytes: longest, depth: 8)).object
        return bytes.isEmpty || document?["version"]?.integer != nil && document?["sources"]?.array != nil
    }

    /// Takes the records of a source in the file, so that the other sources do not remove them when they write.
    func keep(_ part: [Record], ofSource source: Int) {
        parts.withLock { $0[source] = part }
    }

    /// Writes the file with a new part of this source; two writes do not overlap, so the newer one stays.
    func write(_ part: [Record], ofSource source: Int) throws(SystemError) {
        try parts.withLock { (parts) throws(SystemError) in
            parts[source] = part
            try write(parts.sorted { $0.key < $1.key }.flatMap(\.value))
        }
    }

    /// Replaces the file by a new one in the same folder, which is written, synchronized and renamed.
    private func write(_ records: [Record]) throws(SystemError) {
        guard try Self.mayReplace(path) else {
            throw SystemError(operation: "write '\(path)'", reason: "it \(Self.foreignContent)")
        }
        let sources = records.map { record -> JSONValue in
            var object = record.keys.metadata.json
            object["metadata_url"] = .string(record.metadataURL)
            object["fetched_at"] = .integer(record.fetchedAt)
            object["keys"] = .array(record.keys.keys.map { $0.published.json })
            return JSONValue.object(object)
        }
        let document: JSONValue = ["version": 1, "sources": .array(sources)]
        try File.replace(path, with: document.serialized(), mode: 0o600)
    }

    /// Returns the record of each document of a token source in the file; all are nil if there is no file yet.
    ///
    /// The closure learns why a record is ignored. Distrusted keys are not taken, and no keys that were fetched longer
    /// ago than `trust`. The wall clock, `now`, is in milliseconds since 1970.
    ///
    /// - Throws: the reason for which no part of the file is used.
    func read(
        _ source: TokenSource, distrusted: [String], now: Int64, trust: Duration, ignored: (String) -> Void
    ) throws(OperatorError) -> [Record?] {
        guard let bytes = try bytes() else { return source.documents.map { _ in nil } }
        let list = try entries(bytes)
        var admitted: [AdmittedKey] = []
        return source.documents.map { document in
            guard let entry = list.first(where: { $0["metadata_url"]?.string == document.metadataURL }) else {
                return nil
            }
            do throws(OperatorError) {
                let record = try record(of: document, source, entry, admitted: admitted, distrusted: distrusted)
                let age = now - record.fetchedAt
                guard age >= 0 else { throw OperatorError("its keys were fetched in the future") }
                guard age < trust.nanoseconds / 1_000_000 else { throw OperatorError("its keys are too old") }
                admitted += record.keys.keys
                return record
            } catch {
                ignored("\(source.label(of: document)): \(error.message)")
                return nil
            }
        }
    }

    private func bytes() throws(OperatorError) -> [UInt8]? {
        do throws(SystemError) {
            return try File.read(path, limit: Self.longest)
        } catch {
            guard error.isMissing else { throw OperatorError(error.description) }
            return nil
        }
    }

    private func entries(_ bytes: [UInt8]) throws(OperatorError) -> [JSONObject] {
        let document = try rethrowing(as: { _ in OperatorError("the file is not JSON") }) { () throws(JSONError) in
            try JSONValue(parsing: bytes, limits: JSONLimits(bytes: Self.longest, depth: 8))
        }
        guard document.object?["version"] == 1, let list = document.object?["sources"]?.array else {
            throw OperatorError("the file is no key cache of this version")
        }
        return list.compactMap(\.object)
    }

    /// Applies the same rules as to documents from the network, because the settings may have changed since.
    private func record(
        of document: MetadataDocument, _ source: TokenSource, _ entry: JSONObject, admitted: [AdmittedKey],
        distrusted: [String]
    ) throws(OperatorError) -> Record {
        guard let fetchedAt = entry["fetched_at"]?.integer, fetchedAt > 0, let keys = entry["keys"] else {
            throw OperatorError("its entry in the file is incomplete")
        }
        let loaded = try rethrowing(as: { OperatorError($0.message) }) { () throws(LoadFailure) in
            let metadata = try source.trustedMetadata(JSONValue.object(entry).serialized(), of: document)
            let set = try rethrowing(as: LoadFailure.keysNotRead) { () throws(KeySetError) in
                try KeySetDocument(
                    parsing: JSONValue.object(["keys": keys]).serialized(), allowing: source.algorithms)
            }
            return try LoadedKeys(
                of: source, metadata: metadata, document: set, admitted: admitted, distrusted: distrusted)
        }
        return Record(metadataURL: document.metadataURL, keys: loaded, fetchedAt: fetchedAt)
    }
}

extension KeySetDocument.Key {
    fileprivate var json: JSONValue {
        var object = numbers.members(for: algorithm)
        object["use"] = "sig"
        object["alg"] = .string(algorithm.rawValue)
        object["kid"] = .string(keyIdentifier)
        object["issuer"] = issuer.map { .string($0) }
        object["cloud_instance_name"] = cloud.map { .string($0) }
        return .object(object)
    }
}

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
        zip(documents, source.documents).compactMap { state, document in
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
