@testable import IssuerKeys
import JSON
import Support

/// Metadata and key set of a real provider at one moment; where and when recorded is in the files of `Documents`.
struct RecordedProvider: Sendable {
    let name: String
    /// The address of the metadata.
    let address: String
    let metadata: JSONValue
    let keySet: JSONValue
    /// `Cache-Control: max-age` of the documents, where it was recorded.
    let maxAge: Int?

    init(_ document: JSONValue) {
        name = document["name"].string ?? ""
        address = document["address"].string ?? ""
        metadata = document["metadata"]
        // The set of authentik without signing key has no member at all, and Stack Overflow's no address.
        keySet = document["keySet"].object.map(JSONValue.object) ?? ["keys": document["keys"]]
        maxAge = document["maxAge"].integer.map(Int.init)
    }

    var keys: [JSONValue] { keySet["keys"].array ?? [] }

    /// All that were recorded, in the order of the files.
    static func all() throws -> [RecordedProvider] { try documents.get() }

    private static let documents = Result {
        try ["others", "wellknown"].flatMap { file in
            try (TestFile("Documents/\(file).json").json().array ?? []).map(RecordedProvider.init)
        }
    }

    /// The only one of that name.
    static func named(_ name: String) throws -> RecordedProvider {
        let found = try all().filter { $0.name == name }
        guard found.count == 1, let provider = found.first else { throw Missing(name: name) }
        return provider
    }

    struct Missing: Error {
        let name: String
    }

    /// Serves both documents at their addresses, with these keys instead of the recorded ones if they are given.
    func publish(to provider: FakeProvider, keys: [JSONValue]? = nil) {
        provider.set(address, metadata, maxAge: maxAge)
        guard let keysURL = metadata["jwks_uri"].string else { return }
        provider.set(keysURL, keys.map { ["keys": .array($0)] } ?? keySet, maxAge: maxAge)
    }
}

/// The key sets of a provider, one after the other, as they were recorded for months.
struct RecordedHistory: Sendable {
    struct Version: Sendable {
        /// In seconds since 1970.
        let time: Int64
        let keys: [JSONValue]

        var identifiers: [String] { keys.map { $0["kid"].string ?? "" } }

        /// Without the keys of Microsoft's other clouds (P-8), which most versions do not mark.
        var usable: [String] {
            keys.filter { $0["cloud_instance_name"].string.map { $0 == "microsoftonline.com" } ?? true }
                .map { $0["kid"].string ?? "" }
        }
    }

    /// With the metadata of the last version, which did not change.
    let provider: RecordedProvider
    let versions: [Version]

    private static let documents = Result { try TestFile("Documents/histories.json").json().array ?? [] }

    static func named(_ name: String) throws -> RecordedHistory {
        guard let document = try documents.get().first(where: { $0["name"].string == name }) else {
            throw RecordedProvider.Missing(name: name)
        }
        let keys = document["keys"].array ?? []
        let versions = (document["sets"].array ?? []).compactMap { set -> Version? in
            guard let parts = set.array, parts.count == 2, let time = parts[0].integer else { return nil }
            let positions = (parts[1].array ?? []).compactMap { $0.integer }
            return Version(time: time, keys: positions.map { keys[Int($0)] })
        }
        return RecordedHistory(provider: RecordedProvider(document), versions: versions)
    }
}
