import Basics
import JSON
import Platform
import Tokens

/// The file that keeps the keys over a restart (V-88); see `docs/key-cache.md`.
///
/// It holds public keys only, but everyone who can write it can add one: mode 0600, in a folder of the server's own.
struct KeyFile: Sendable {
    /// One key source in the file.
    struct Record: Sendable {
        let metadataURL: String
        let keys: LoadedKeys
        /// When it was fetched, in milliseconds since 1970.
        let fetchedAt: Int64
    }

    static let longest = 1 << 22
    let path: String

    /// Replaces the file: a new one in the same folder is written, synchronized, and renamed.
    func write(_ records: [Record]) throws(SystemError) {
        let sources = records.map { record in
            JSONValue.object([
                "metadata_url": .string(record.metadataURL), "issuer": .string(record.keys.issuer),
                "jwks_uri": .string(record.keys.keySetURL), "fetched_at": .integer(record.fetchedAt),
                "keys": .array(record.keys.keys.map { $0.published.json }),
            ])
        }
        let document: JSONValue = ["version": 1, "sources": .array(sources)]
        try File.replace(path, with: document.serialized(), mode: 0o600)
    }

    /// Why the file, or one key source in it, is not used.
    struct Rejection: Error, Equatable {
        let reason: String
    }

    /// What the file has of each of these key sources; nothing if there is no file yet.
    ///
    /// - Parameters:
    ///   - sources: the key sources of the settings, whose rules the file must fit.
    ///   - distrusted: the `kid`s of keys that are not taken.
    ///   - now: the wall clock, in milliseconds since 1970.
    ///   - trust: the age at which keys are too old.
    /// - Returns: in the order of `sources`.
    /// - Throws: why nothing of the file is used.
    func read(
        _ sources: [KeySource], distrusted: [String], now: Int64, trust: Duration
    ) throws(Rejection) -> [Result<Record, Rejection>?] {
        guard let bytes = try bytes() else { return sources.map { _ in nil } }
        let list = try entries(bytes)
        return sources.map { source in
            guard let entry = list.first(where: { $0["metadata_url"]?.string == source.metadataURL }) else {
                return nil
            }
            do throws(Rejection) {
                let record = try record(of: source, entry, distrusted: distrusted)
                let age = now - record.fetchedAt
                guard age >= 0 else { throw Rejection(reason: "fetched in the future") }
                guard age < trust.nanoseconds / 1_000_000 else { throw Rejection(reason: "too old") }
                return .success(record)
            } catch {
                return .failure(Rejection(reason: "\(source.name): \(error.reason)"))
            }
        }
    }

    private func bytes() throws(Rejection) -> [UInt8]? {
        do throws(SystemError) {
            return try File.read(path, limit: Self.longest)
        } catch {
            guard error.isMissing else { throw Rejection(reason: error.description) }
            return nil
        }
    }

    private func entries(_ bytes: [UInt8]) throws(Rejection) -> [JSONObject] {
        let document = try rethrowing(as: { _ in Rejection(reason: "not JSON") }) { () throws(JSONError) in
            try JSONValue(parsing: bytes, limits: JSONLimits(bytes: Self.longest, depth: 8))
        }
        guard document.object?["version"] == 1, let list = document.object?["sources"]?.array else {
            throw Rejection(reason: "not a key cache of this version")
        }
        return list.compactMap(\.object)
    }

    /// The same rules as for what comes over the network: the settings may have changed since.
    private func record(
        of source: KeySource, _ entry: JSONObject, distrusted: [String]
    ) throws(Rejection) -> Record {
        guard let fetchedAt = entry["fetched_at"]?.integer, fetchedAt > 0, let keys = entry["keys"] else {
            throw Rejection(reason: "incomplete")
        }
        let loaded = try rethrowing(as: { Rejection(reason: $0.message) }) { () throws(LoadFailure) in
            let metadata = try metadata(of: source, entry)
            return try LoadedKeys(
                issuer: metadata.issuer, keySetURL: metadata.keySetURL, document: try keySet(keys), known: [],
                distrusted: distrusted)
        }
        return Record(metadataURL: source.metadataURL, keys: loaded, fetchedAt: fetchedAt)
    }

    private func metadata(of source: KeySource, _ entry: JSONObject) throws(LoadFailure) -> ProviderMetadata {
        try rethrowing(as: LoadFailure.metadataNotTrusted) { () throws(MetadataError) in
            let metadata = try ProviderMetadata(parsing: JSONValue.object(entry).serialized())
            try metadata.check(against: source.metadataRules)
            return metadata
        }
    }

    private func keySet(_ keys: JSONValue) throws(LoadFailure) -> KeySetDocument {
        try rethrowing(as: LoadFailure.keysNotRead) { () throws(KeySetError) in
            try KeySetDocument(parsing: JSONValue.object(["keys": keys]).serialized())
        }
    }
}

extension KeySetDocument.Key {
    fileprivate var json: JSONValue {
        .object([
            "kty": "RSA", "use": "sig", "kid": .string(keyIdentifier), "n": .string(Base64URL.encode(modulus)),
            "e": .string(Base64URL.encode(exponent)),
        ])
    }
}
