import Basics
import OpenSSL
import Synchronization
import Tokens

/// The verdict of the trusted keys on a token's signature.
enum SignatureFinding: Equatable {
    /// The key is known, published under these issuers, and signed this token.
    case good([TokenIssuer])
    /// The key is known, and did not sign this token.
    case bad
    case unknownKey
    /// The key is known for another algorithm.
    case otherAlgorithm
    /// No keys are loaded.
    case keysUnavailable
}

/// The keys of one token source that are trusted at one time, with their issuers; a change makes a new one (V-76).
final class KeySnapshot: Sendable {
    /// One key, and the issuers that publish it.
    struct Entry: Sendable {
        let key: AdmittedKey
        fileprivate(set) var issuers: [TokenIssuer]
    }

    /// The number that changes with the keys and issuers: a token of another generation is verified again (V-103).
    let generation: UInt64
    let entries: [Entry]
    /// The issuers of the source, also of keys that are too old: they show that a token is of this source (P-13).
    let issuers: [TokenIssuer]
    /// The identifiers of the issuers, each once, because policies may share an issuer.
    var issuerIdentifiers: [String] { issuers.map(\.identifier).withoutDuplicates }
    /// The time at which the keys or issuers last changed, in nanoseconds of the monotonic clock.
    let since: Int64

    /// Creates a snapshot in which no key is trusted yet.
    convenience init(knownIssuers: [String] = []) {
        let issuers = knownIssuers.map { TokenIssuer(identifier: $0, policy: nil) }
        self.init(generation: 0, entries: [], issuers: issuers, since: Int64.min)
    }

    private init(generation: UInt64, entries: [Entry], issuers: [TokenIssuer], since: Int64) {
        self.generation = generation
        self.entries = entries
        self.issuers = issuers
        self.since = since
    }

    /// Returns the keys of this identifier, byte by byte (V-27).
    ///
    /// There are several if policies publish different keys under one name, or a set has one for each algorithm.
    func entries(for keyIdentifier: String) -> [Entry] {
        entries.filter { $0.key.published.keyIdentifier.isSame(as: keyIdentifier) }
    }

    /// Returns the snapshot of these keys, of the same generation if they and their issuers are the same.
    func successor(_ documents: [PublishedDocument], issuers: [TokenIssuer], now: Int64) -> KeySnapshot {
        var entries: [Entry] = []
        for document in documents {
            for key in document.keys.keys {
                let issuer = TokenIssuer(identifier: key.issuer, policy: document.policy)
                if let index = entries.firstIndex(where: { $0.key.isSame(as: key) }) {
                    entries[index].issuers.append(issuer)
                } else {
                    entries.append(Entry(key: key, issuers: [issuer]))
                }
            }
        }
        // Each key is there once. The order of a provider's keys means nothing, and may change at any time.
        let isSame =
            entries.count == self.entries.count
            && entries.allSatisfy { entry in
                self.entries.contains { $0.key.isSame(as: entry.key) && $0.issuers == entry.issuers }
            }
        return KeySnapshot(
            generation: generation + (isSame ? 0 : 1), entries: entries, issuers: issuers, since: isSame ? since : now)
    }

    /// Returns whether a token with this `iss` is of this source.
    func issues(_ issuer: String) -> Bool {
        issuers.contains { $0.issues(issuer, tenant: IssuerTenant.of(issuer)) }
    }

    /// Checks the signature of a token by the keys.
    func finding(_ token: CompactToken, _ header: JOSEHeader) -> SignatureFinding {
        guard !entries.isEmpty else { return .keysUnavailable }
        let named = entries(for: header.keyIdentifier)
        guard !named.isEmpty else { return .unknownKey }
        // A key verifies by its own algorithm only; a token with another algorithm is refused (V-21).
        let signer = named.first {
            $0.key.key.algorithm == header.algorithm
                && $0.key.key.verifies(signature: token.signature, of: token.signingInput)
        }
        if let signer { return .good(signer.issuers) }
        return named.contains { $0.key.key.algorithm == header.algorithm } ? .bad : .otherAlgorithm
    }
}

/// The keys of one document that serves, and its policy.
struct PublishedDocument {
    let keys: LoadedKeys
    let policy: String?
}

/// The snapshot of one token source's keys that requests read, which is replaced as a whole (V-76).
struct PublishedKeys: ~Copyable, Sendable {
    private let snapshot: Mutex<KeySnapshot>
    private let generation = Atomic<UInt64>(0)
    private let servesUntil = Atomic<Int64>(Int64.min)

    init(knownIssuers: [String]) {
        snapshot = Mutex(KeySnapshot(knownIssuers: knownIssuers))
    }

    var current: KeySnapshot { snapshot.withLock { $0 } }

    /// Returns whether a token verified under this generation may still be accepted (V-103, V-107).
    func isCurrent(_ generation: UInt64, now: Int64) -> Bool {
        self.generation.load(ordering: .acquiring) == generation && now < servesUntil.load(ordering: .acquiring)
    }

    /// Returns whether the snapshot holds keys that are too old to be trusted.
    func isExpired(_ now: Int64) -> Bool {
        let end = servesUntil.load(ordering: .acquiring)
        return end != Int64.min && end <= now
    }

    /// Replaces the snapshot by that of the documents that serve, until the first of them is too old.
    ///
    /// The issuers are those of all documents, also of those that are too old. The times are nanoseconds of the
    /// monotonic clock. Two calls must not overlap, or older keys could overtake newer ones.
    func publish(_ documents: [PublishedDocument], issuers: [TokenIssuer], now: Int64, until end: Int64?) {
        snapshot.withLock { snapshot in
            // The generation changes before the keys are used, because cached tokens are valid for one generation.
            snapshot = snapshot.successor(documents, issuers: issuers, now: now)
            generation.store(snapshot.generation, ordering: .releasing)
            servesUntil.store(end ?? Int64.min, ordering: .releasing)
        }
    }
}
