internal import OpenSSL
internal import Tokens

/// What one source published, validated: its issuer, where its keys lie, and the keys that may be used.
struct LoadedSource: Sendable {
    let issuer: String
    let keySetURL: String
    let keys: [AdmittedKey]
    /// What was left out, for the log.
    let skipped: [SkippedKey]
}

/// A key that passed every rule, ready to check signatures.
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
    /// The rule it breaks, in plain words.
    package let reason: String
}

extension LoadedSource {
    /// Admits the keys of a document (V-36 to V-38), less the distrusted (V-97); fails if none is left (V-80).
    ///
    /// Keys that the last load knew are taken over, so that their contexts stay warm.
    init(
        issuer: String, keySetURL: String, document: KeySetDocument, known: [AdmittedKey], distrusted: [String]
    ) throws(LoadFailure) {
        var keys: [AdmittedKey] = []
        var skipped = document.rejected.map {
            SkippedKey(keyIdentifier: $0.keyIdentifier, reason: $0.reason.words)
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
}
