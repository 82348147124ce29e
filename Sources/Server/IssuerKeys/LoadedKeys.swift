import OpenSSL
import Tokens

/// What one key source published, validated: its issuer, the address of its key set, and the keys that may be used.
struct LoadedKeys: Sendable {
    let issuer: String
    let keySetURL: String
    let keys: [AdmittedKey]
    /// Published keys that are not used, for the log.
    let skipped: [SkippedKey]
}

/// A key that passed every rule, ready to verify signatures.
struct AdmittedKey: Sendable {
    let published: KeySetDocument.Key
    let key: RSAPublicKey

    /// Whether both are the same numbers under the same name, byte by byte (V-27).
    func isSame(as other: AdmittedKey) -> Bool {
        published.keyIdentifier.utf8.elementsEqual(other.published.keyIdentifier.utf8)
            && published.modulus == other.published.modulus && published.exponent == other.published.exponent
    }
}

/// A key of a set that is not used, and why.
package struct SkippedKey: Sendable, Equatable {
    /// `kid`, if it has one; not escaped.
    package let keyIdentifier: String?
    /// The rule it breaks.
    package let reason: String
}

extension LoadedKeys {
    /// Admits the keys of a document (V-36 to V-38), less the distrusted (V-97); fails if none is left (V-80).
    ///
    /// Keys of the last load are kept, so that their contexts in OpenSSL stay in use.
    init(
        issuer: String, keySetURL: String, document: KeySetDocument, known: [AdmittedKey], distrusted: [String]
    ) throws(LoadFailure) {
        var keys: [AdmittedKey] = []
        var skipped = document.rejected.map {
            SkippedKey(keyIdentifier: $0.keyIdentifier, reason: $0.reason.message)
        }
        for published in document.keys {
            if distrusted.contains(where: { $0.utf8.elementsEqual(published.keyIdentifier.utf8) }) {
                skipped.append(
                    SkippedKey(keyIdentifier: published.keyIdentifier, reason: "it is distrusted by the settings"))
            } else if let key = known.first(where: { $0.published == published }) {
                keys.append(key)
            } else if let key = try? RSAPublicKey(modulus: published.modulus, exponent: published.exponent) {
                keys.append(AdmittedKey(published: published, key: key))
            } else {
                skipped.append(SkippedKey(keyIdentifier: published.keyIdentifier, reason: "OpenSSL finds it unsound"))
            }
        }
        guard !keys.isEmpty else { throw .noUsableKey(skipped.first?.reason) }
        self.init(issuer: issuer, keySetURL: keySetURL, keys: keys, skipped: skipped)
    }

    /// What to report of a load, given what the same key source had before.
    func events(of source: String, after known: LoadedKeys?) -> [KeyEvent] {
        let before = known?.keys ?? []
        let added = keys.filter { key in !before.contains { $0.isSame(as: key) } }
        let removed = before.filter { key in !keys.contains { $0.isSame(as: key) } }
        let loaded = KeyEvent.loaded(
            source: source, keys: keys.count, added: added.map(\.published.keyIdentifier),
            removed: removed.map(\.published.keyIdentifier))
        let privateKeys = added.filter(\.published.carriesPrivateMembers).map {
            KeyEvent.privateKeyPublished(source: source, keyIdentifier: $0.published.keyIdentifier)
        }
        // Once per set, not once per load (V-38).
        let newlySkipped = skipped.filter { !(known?.skipped.contains($0) ?? false) }.map {
            KeyEvent.keySkipped(source: source, key: $0)
        }
        return [loaded] + privateKeys + newlySkipped
    }
}
