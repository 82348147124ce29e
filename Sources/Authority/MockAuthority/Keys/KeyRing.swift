import Basics
package import JSON
package import OpenSSL
import Synchronization
import Tokens

/// A change of the keys of a running authority.
package enum KeyStep: String, Sendable, CaseIterable {
    /// Shows one more key in the set, and signs with the old one still: what real services do first.
    case publish
    /// Signs with the newest published key; the old one stays in the set.
    case activate
    /// Takes every key out of the set that does not sign.
    case retire
    /// All three at once: the harsh test.
    case rotate
}

/// The keys of an authority: some published, one of them signing, some gone.
///
/// Generating a key takes a tenth of a second, so that happens on another thread than the caller's, and only when a key
/// is needed; ``begin()`` does it for the first ones.
final class KeyRing: Sendable {
    private typealias KeysTask = Task<Result<[TokenSigningKey], PrivateKeyError>, Never>

    struct State: Sendable {
        /// The keys in the set, oldest first.
        var published: [TokenSigningKey] = []
        /// The `kid` of the one that signs.
        var active: String?
        /// Keys that once were in the set.
        var retired: [TokenSigningKey] = []

        var signing: TokenSigningKey? { published.first { $0.identifier == active } }
    }

    private let state: Mutex<State>
    private let first = Mutex<KeysTask?>(nil)
    private let hidden = Mutex<KeysTask?>(nil)
    private let lastNumber = Mutex(0)
    private let generator: KeyGenerator
    let naming: KeyNaming
    private let now: @Sendable () -> Int64
    private let changed: @Sendable (State) -> Void

    /// A ring that begins with these keys, or with those that it generates.
    init(
        _ saved: State, generator: KeyGenerator, naming: KeyNaming, now: @escaping @Sendable () -> Int64,
        changed: @escaping @Sendable (State) -> Void
    ) {
        self.generator = generator
        self.naming = naming
        self.now = now
        self.changed = changed
        state = Mutex(saved)
    }

    /// Begins to generate the first keys, if there are none yet.
    func begin() {
        if state.withLock({ $0.signing == nil }) { _ = firstKeys() }
    }

    private func firstKeys() -> KeysTask { once(first, Array(1...naming.firstKeys)) }

    /// Begins to generate keys of these numbers, unless that was begun before.
    private func once(_ begun: borrowing Mutex<KeysTask?>, _ numbers: [Int?]) -> KeysTask {
        begun.withLock { begun in
            let making = begun ?? newKeys(numbers)
            begun = making
            return making
        }
    }

    private func newKeys(_ numbers: [Int?]) -> KeysTask {
        Task.detached { [generator, naming, now] in
            Result { () throws(PrivateKeyError) in
                try numbers.map { number throws(PrivateKeyError) in
                    try naming.key(generator.generate(), notBefore: now(), number: number)
                }
            }
        }
    }

    /// A key of a number that none of those that are known had: retired ones are forgotten after a while.
    private func make() async throws(PrivateKeyError) -> TokenSigningKey {
        let known = state.withLock { $0.published + $0.retired }.map(\.identifier)
        let number = lastNumber.withLock { last in
            last = max(last, known.count) + 1
            while let name = naming.era.keyName(last), known.contains(name) { last += 1 }
            return last
        }
        return try await newKeys([number]).value.get()[0]
    }

    /// The keys as they are, perhaps none yet.
    var known: State { state.withLock { $0 } }

    /// The keys, the first of them made.
    func current() async throws(PrivateKeyError) -> State {
        let state = state.withLock { $0 }
        guard state.signing == nil else { return state }
        let keys = try await firstKeys().value.get()
        return change { state in
            guard state.signing == nil else { return }
            state.published += keys
            state.active = keys.first?.identifier
        }
    }

    func signing() async throws(PrivateKeyError) -> TokenSigningKey {
        guard let key = try await current().signing else { throw .notPrivateKey }
        return key
    }

    /// A key that was never in the set.
    func unpublished() async throws(PrivateKeyError) -> TokenSigningKey {
        try await once(hidden, [nil]).value.get()[0]
    }

    /// The last retired key; makes one if there is none.
    func retired() async throws(PrivateKeyError) -> TokenSigningKey {
        if let key = try await current().retired.last { return key }
        let key = try await make()
        let state = change { if $0.retired.isEmpty { $0.retired.append(key) } }
        return state.retired.last ?? key
    }

    /// Does a step; without a key to activate nothing changes.
    func take(_ step: KeyStep) async throws(PrivateKeyError) -> State {
        _ = try await current()
        let key = [.publish, .rotate].contains(step) ? try await make() : nil
        return change { state in
            if let key { state.published.append(key) }
            if [.activate, .rotate].contains(step) { state.active = state.published.last?.identifier }
            if [.retire, .rotate].contains(step) { state.retire() }
        }
    }

    /// Gives each key the use that it has here, and withdraws the keys that are not named.
    ///
    /// Returns nil, and changes nothing, if no key that is known is to sign.
    func restore(_ uses: [String: State.Use]) -> State? {
        state.withLock { state in
            let known = state.all.map(\.key)
            guard let active = known.first(where: { uses[$0.identifier] == .active }) else { return nil }
            state.published = known.filter { [.active, .published].contains(uses[$0.identifier]) }
            state.retired = known.filter { key in !state.published.contains { $0.identifier == key.identifier } }
            state.active = active.identifier
            changed(state)
            return state
        }
    }

    /// The state is told under the lock, so that an older one never overwrites a newer one where it is saved.
    private func change(_ body: (inout State) -> Void) -> State {
        state.withLock { state in
            body(&state)
            changed(state)
            return state
        }
    }
}

extension KeyRing.State {
    /// The use of a key, by the name that controls and files have for it.
    enum Use: String, CaseIterable {
        case active, published, retired
    }

    /// Every key, the published ones first.
    var all: [(key: TokenSigningKey, use: Use)] {
        published.map { ($0, $0.identifier == active ? .active : .published) } + retired.map { ($0, .retired) }
    }

    /// The document of B2C's keys endpoint (RFC 7517 section 5).
    var keySet: JSONValue { ["keys": .array(published.map(\.publicKey))] }

    /// Takes every key out of the set that does not sign.
    fileprivate mutating func retire() {
        retired += published.filter { $0.identifier != active }
        published.removeAll { $0.identifier != active }
        retired.removeFirst(max(0, retired.count - 8))
    }
}

extension KeyRing {
    /// The claims of a token that a key of the ring signed, also one that is no longer published.
    ///
    /// The caller checks the times. Only Graph reads tokens for Graph (``TokenSigner/signGraphToken(_:)``).
    func claims(of token: String, asGraph: Bool = false) async -> JSONObject? {
        var parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, var header = object(parts[0]), let signature = Base64.decodeLenient(parts[2]),
            let state = try? await current(),
            let signer = state.all.first(where: { $0.key.identifier == header["kid"]?.string }),
            let key = try? signer.key.privateKey.publicKey()
        else { return nil }
        if asGraph, let nonce = header["nonce"]?.string {
            header["nonce"] = .string(TokenSigner.hash(ofNonce: nonce))
            parts[0] = Base64URL.encode(header.bytes)[...]
        }
        return key.verifies(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8)) ? object(parts[1]) : nil
    }

    private func object(_ part: Substring) -> JSONObject? {
        Base64.decodeLenient(part).flatMap { (try? JSONValue(parsing: $0))?.object }
    }
}

/// A key that signs tokens, and its public half as the key set shows it.
package struct TokenSigningKey: Sendable {
    /// The name in `kid`: the one that ``KeyNaming`` gives, else the JWK thumbprint of RFC 7638.
    package let identifier: String
    /// When the key was made, in seconds since 1970.
    package let notBefore: Int64
    package let privateKey: PrivateKey
    let modulus: String
    let exponent: String

    /// A key made at this time; without a name, it has its thumbprint as the name.
    package init(_ privateKey: PrivateKey, notBefore: Int64, name: String? = nil) {
        self.privateKey = privateKey
        self.notBefore = notBefore
        modulus = Base64URL.encode(privateKey.modulus)
        exponent = Base64URL.encode(privateKey.exponent)
        let canonical = "{\"e\":\"\(exponent)\",\"kty\":\"RSA\",\"n\":\"\(modulus)\"}"
        identifier = name ?? Base64URL.encode(SHA256.digest(Array(canonical.utf8)))
    }

    /// The members of the service, in its order: no `alg`, no `x5t`, no `x5c`.
    package var publicKey: JSONValue {
        [
            "kid": .string(identifier), "nbf": .integer(notBefore), "use": "sig", "kty": "RSA",
            "e": .string(exponent), "n": .string(modulus),
        ]
    }
}

/// How the keys of a ring are named, and how many there are at first.
struct KeyNaming: Sendable {
    /// The subject of the certificates whose thumbprints are the names, as at Entra (docs/reproduced.md, "Keys"); empty
    /// if the keys have no certificates.
    var subject = ""
    /// The era of B2C, whose keys have no certificates.
    var era = Era.current

    static let microsoft = KeyNaming(subject: "accounts.accesscontrol.windows.net")

    static let personal = KeyNaming(subject: "Live ID STS Signing Public Key")

    /// Microsoft's sets never have only one.
    var firstKeys: Int { subject.isEmpty ? 1 : 2 }

    /// The signing key of a private key; `number` counts from 1, and is `nil` for one that is never published.
    func key(_ key: PrivateKey, notBefore: Int64, number: Int?) throws(PrivateKeyError) -> TokenSigningKey {
        if subject.isEmpty { return TokenSigningKey(key, notBefore: notBefore, name: number.flatMap(era.keyName)) }
        let certificate = try CertificateMaker(now: notBefore).tokenSigning(key, name: subject)
        return TokenSigningKey(key, notBefore: notBefore, name: Base64URL.encode(SHA1.digest(certificate)))
    }
}

package struct KeyGenerator: Sendable {
    let generate: @Sendable () throws(PrivateKeyError) -> PrivateKey

    /// Keys from this closure, which is called on another thread than the event loop's.
    package init(_ generate: @escaping @Sendable () throws(PrivateKeyError) -> PrivateKey) {
        self.generate = generate
    }

    /// A new key of 2048 bits each time: some 50 to 200 ms.
    package static let generated = KeyGenerator { () throws(PrivateKeyError) in try PrivateKey.generate(bits: 2048) }
}
