import Basics
import OpenSSL
import Tokens

/// The validated contents of one metadata document: its metadata, and the keys that may be used.
struct LoadedKeys: Sendable {
    let metadata: ProviderMetadata
    let keys: [AdmittedKey]
    /// Published keys that are not used, for the log.
    let skipped: [SkippedKey]

    var issuer: String { metadata.issuer }
}

/// A key that passed every rule, ready to verify signatures.
struct AdmittedKey: Sendable {
    let published: KeySetDocument.Key
    let key: PublicKey
    /// The issuer whose tokens the key signs: that of the metadata, or a narrower one of the key (P-7).
    let issuer: String

    /// Returns whether both keys have the same numbers, name and algorithm, byte by byte (V-27).
    func isSame(as other: AdmittedKey) -> Bool { published.isSame(as: other.published) }
}

/// A key of a set that is not used, and the reason.
package struct SkippedKey: Sendable, Equatable {
    /// The `kid`, if the key has one, not escaped.
    package let keyIdentifier: String?
    /// The rule that the key breaks.
    package let reason: String
}

extension LoadedKeys {
    /// Admits the keys of a document (V-36 to V-38) except the distrusted (V-97); fails if none is left (V-80).
    ///
    /// A key that was admitted before is not checked again, and its contexts in OpenSSL stay in use.
    init(
        of source: TokenSource, metadata: ProviderMetadata, document: KeySetDocument, admitted: [AdmittedKey],
        distrusted: [String]
    ) throws(LoadFailure) {
        var keys: [AdmittedKey] = []
        var skipped = document.rejected.map {
            SkippedKey(keyIdentifier: $0.keyIdentifier, reason: $0.message)
        }
        for published in document.keys {
            do throws(OperatorError) {
                keys.append(try Self.admit(published, metadata, admitted, distrusted))
            } catch {
                skipped.append(SkippedKey(keyIdentifier: published.keyIdentifier, reason: error.message))
            }
        }
        guard !keys.isEmpty else {
            // If every key is for another purpose, the algorithms of all say more than the reason of one.
            let telling = skipped.first { key in !Self.otherPurposes.contains { key.reason.hasPrefix($0) } }
            if telling == nil, !document.algorithms.isEmpty { throw source.unsupportedAlgorithms(document.algorithms) }
            guard let reason = (telling ?? skipped.first)?.reason else {
                throw LoadFailure("the key set has no keys; ask the provider")
            }
            throw LoadFailure("none of the published keys may be used: one is refused because \(reason)")
        }
        self.init(metadata: metadata, keys: keys, skipped: skipped)
    }

    /// The reasons of keys that may be good, but for other tokens than those that are accepted here.
    private static let otherPurposes = [
        KeyRejection.wrongKeyType, .wrongAlgorithm, .algorithmNotAllowed, .notForSignatures,
    ].map(\.message)

    private static func admit(
        _ published: KeySetDocument.Key, _ metadata: ProviderMetadata, _ earlier: [AdmittedKey], _ distrusted: [String]
    ) throws(OperatorError) -> AdmittedKey {
        guard !published.isAmong(distrusted) else { throw OperatorError("it is distrusted by the settings") }
        let issuer = try rethrowing(as: { OperatorError($0.message) }) { () throws(KeyRejection) in
            try published.issuer(under: metadata)
        }
        if let key = earlier.first(where: { $0.published == published }) {
            return AdmittedKey(published: published, key: key.key, issuer: issuer)
        }
        guard let key = try? PublicKey(published.numbers, for: published.algorithm) else {
            throw OperatorError("OpenSSL finds it unsound")
        }
        return AdmittedKey(published: published, key: key, issuer: issuer)
    }

    /// Returns the same contents without these keys.
    func trusted(except distrusted: [String]) -> LoadedKeys {
        guard !distrusted.isEmpty else { return self }
        return LoadedKeys(
            metadata: metadata, keys: keys.filter { !$0.published.isAmong(distrusted) }, skipped: skipped)
    }

    /// Returns the events of a load, given the earlier keys of the same document.
    func events(of source: String, after known: LoadedKeys?) -> [KeyEvent] {
        let before = known?.keys ?? []
        let added = keys.filter { key in !before.contains { $0.isSame(as: key) } }
        let removed = before.filter { key in !keys.contains { $0.isSame(as: key) } }
        let loaded = KeyEvent.loaded(
            source: source, keys: keys.count, added: added.map(\.published.keyIdentifier),
            removed: removed.map(\.published.keyIdentifier))
        // The private half of a known key is reported, too, because it may be new.
        let privateKeys = keys.filter { key in
            key.published.carriesPrivateMembers
                && !before.contains { $0.isSame(as: key) && $0.published.carriesPrivateMembers }
        }.map { KeyEvent.privateKeyPublished(source: source, keyIdentifier: $0.published.keyIdentifier) }
        // A skipped key is reported once for each set, not for each load (V-38).
        let newlySkipped = skipped.filter { !(known?.skipped.contains($0) ?? false) }.map {
            KeyEvent.keySkipped(source: source, key: $0)
        }
        return [loaded] + privateKeys + newlySkipped
    }
}

extension KeySetDocument.Key {
    /// Returns whether the identifier is one of these, byte by byte (V-27).
    fileprivate func isAmong(_ identifiers: [String]) -> Bool {
        identifiers.contains { $0.utf8.elementsEqual(keyIdentifier.utf8) }
    }
}
