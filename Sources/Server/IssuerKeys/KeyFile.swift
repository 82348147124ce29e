internal import Basics
internal import JSON
internal import Platform
internal import Tokens

/// The file that remembers the keys over a restart (V-88).
///
/// It holds public keys only, but whoever can write it can add one: mode 0600, in a folder of the server's own.
struct KeyFile: Sendable {
    /// One source in the file.
    struct Record: Sendable {
        let metadataURL: String
        let source: LoadedSource
        /// When it was fetched, in milliseconds since 1970.
        let fetchedAt: Int64
    }

    static let longest = 1 << 22
    let path: String

    /// Writes all sources anew: a file beside it, synchronized, takes its place.
    func write(_ records: [Record]) throws(SystemError) {
        let sources = records.map { record in
            JSONValue.object([
                "metadata_url": .string(record.metadataURL), "issuer": .string(record.source.issuer),
                "jwks_uri": .string(record.source.keySetURL), "fetched_at": .integer(record.fetchedAt),
                "keys": .array(record.source.keys.map { $0.published.json }),
            ])
        }
        let document: JSONValue = ["version": 1, "sources": .array(sources)]
        try File.replace(path, with: document.serialized(), mode: 0o600)
    }

    /// Why a file, or a source in it, is not used.
    struct Rejection: Error, Equatable {
        let reason: String
    }

    /// What the file says of each of these sources; nothing if there is no file yet.
    func read(
        _ sources: [KeySource], distrusted: [String], now: Int64, trust: Duration
    ) throws(Rejection) -> [Result<Record, Rejection>?] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try File.read(path, limit: Self.longest)
        } catch {
            guard error.isMissing else { throw Rejection(reason: error.description) }
            return sources.map { _ in nil }
        }
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

    private func entries(_ bytes: [UInt8]) throws(Rejection) -> [JSONObject] {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes, limits: JSONLimits(bytes: Self.longest, depth: 8))
        } catch {
            throw Rejection(reason: "not JSON")
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
        let metadata = try metadata(of: source, entry)
        do throws(LoadFailure) {
            let loaded = try LoadedSource(
                issuer: metadata.issuer, keySetURL: metadata.keySetURL, document: try keySet(keys), known: [],
                distrusted: distrusted)
            return Record(metadataURL: source.metadataURL, source: loaded, fetchedAt: fetchedAt)
        } catch {
            throw Rejection(reason: error.words)
        }
    }

    private func metadata(of source: KeySource, _ entry: JSONObject) throws(Rejection) -> ProviderMetadata {
        do throws(MetadataError) {
            let metadata = try ProviderMetadata(parsing: JSONValue.object(entry).serialized())
            try metadata.check(against: source.metadataRules)
            return metadata
        } catch {
            throw Rejection(reason: error.words)
        }
    }

    private func keySet(_ keys: JSONValue) throws(LoadFailure) -> KeySetDocument {
        do throws(KeySetError) {
            return try KeySetDocument(parsing: JSONValue.object(["keys": keys]).serialized())
        } catch {
            throw .keysNotRead(error)
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
