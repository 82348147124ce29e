import OpenSSL
import Tokens

/// All keys that are trusted at one time, with the issuers under which they were published.
///
/// Immutable; any change makes a new snapshot (V-76).
final class KeySnapshot: Sendable {
    /// One key, and the issuers that publish it.
    struct Entry: Sendable {
        let key: AdmittedKey
        fileprivate(set) var issuers: [TokenIssuer]
    }

    /// Changes with the keys and issuers: a token verified under another generation is verified again (V-103).
    let generation: UInt64
    let entries: [Entry]
    private let byIdentifier: [[UInt8]: [Entry]]

    /// Nothing is trusted yet.
    static let empty = KeySnapshot(generation: 0, entries: [])

    private init(generation: UInt64, entries: [Entry]) {
        self.generation = generation
        self.entries = entries
        // By bytes: equality of Swift's strings would find a key under another spelling (V-27).
        byIdentifier = Dictionary(grouping: entries) { Array($0.key.published.keyIdentifier.utf8) }
    }

    /// The keys of this identifier: more than one only if policies publish different keys under it.
    func entries(for keyIdentifier: String) -> [Entry] {
        byIdentifier[Array(keyIdentifier.utf8)] ?? []
    }

    /// The snapshot of these keys; of the same generation if they and their issuers are the same.
    func successor(sources: [(keys: LoadedKeys, policy: String?)]) -> KeySnapshot {
        var entries: [Entry] = []
        for (loaded, policy) in sources {
            let issuer = TokenIssuer(identifier: loaded.issuer, policy: policy)
            for key in loaded.keys {
                if let index = entries.firstIndex(where: { $0.key.isSame(as: key) }) {
                    entries[index].issuers.append(issuer)
                } else {
                    entries.append(Entry(key: key, issuers: [issuer]))
                }
            }
        }
        let isSame = entries.elementsEqual(self.entries) { $0.key.isSame(as: $1.key) && $0.issuers == $1.issuers }
        return KeySnapshot(generation: generation + (isSame ? 0 : 1), entries: entries)
    }

    /// What the keys say of a token's signature.
    func finding(_ token: CompactToken, _ header: JOSEHeader) -> SignatureFinding {
        guard !entries.isEmpty else { return .keysUnavailable }
        let candidates = entries(for: header.keyIdentifier)
        guard !candidates.isEmpty else { return .unknownKey }
        let signer = candidates.first { $0.key.key.verifies(signature: token.signature, of: token.signingInput) }
        guard let signer else { return .bad(candidates.flatMap(\.issuers)) }
        return .good(signer.issuers)
    }
}
