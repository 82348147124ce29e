package import Basics
import JSON

/// A set of keys as a provider publishes it (RFC 7517 section 5), divided into usable keys and the others.
///
/// The document is checked without a cryptographic library, which checks the numbers later (V-37).
package struct KeySetDocument: Sendable, Equatable {
    /// The longest document that is read, in bytes.
    package static let longest = 256 * 1024
    /// The most keys of a set that is accepted.
    package static let mostKeys = 64

    /// A key that may be used.
    package struct Key: Sendable, Equatable {
        /// `kid`, to be compared byte by byte.
        package let keyIdentifier: String
        /// The only algorithm whose signatures the key verifies (V-36).
        package let algorithm: SignatureAlgorithm
        /// The numbers, of the kind and lengths that the algorithm takes.
        package let numbers: PublicKeyNumbers
        /// Whether the provider also published private members, which is reported; they are not used (V-37).
        package let carriesPrivateMembers: Bool
        /// `issuer`, which Microsoft's keys have: the key signs for no other issuer (P-7).
        package let issuer: String?
        /// `cloud_instance_name`, which Microsoft's keys have (P-8).
        package let cloud: String?

        /// Returns whether tokens could not tell both apart: they have the same `kid` and the same algorithm.
        func isNamed(as other: Key) -> Bool {
            keyIdentifier.isSame(as: other.keyIdentifier) && algorithm == other.algorithm
        }

        /// Returns whether both have the same numbers under the same `kid`, byte by byte, for the same algorithm (V-27).
        package func isSame(as other: Key) -> Bool { isNamed(as: other) && numbers == other.numbers }
    }

    /// A key that may not be used.
    package struct RejectedKey: Sendable, Equatable {
        /// `kid`, if it has one.
        package let keyIdentifier: String?
        package let reason: KeyRejection
    }

    /// The keys that may be used, in their order: one for each `kid` and algorithm.
    package let keys: [Key]
    /// The keys that may not be used, to be reported once for each set (V-38).
    package let rejected: [RejectedKey]
    /// The signature algorithms of all keys, as far as they are known, each once (P-9).
    package let algorithms: [String]

    /// Reads a whole document; a bad key does not affect the others (V-38).
    ///
    /// A key without `alg` is for the first of the allowed algorithms that suits its kind.
    ///
    /// - Throws: ``KeySetError`` if it is not a set of keys at all. A set without usable keys is not an error here.
    package init(
        parsing bytes: [UInt8], allowing allowed: [SignatureAlgorithm] = SignatureAlgorithm.allCases
    ) throws(KeySetError) {
        let entries = try Self.entries(of: bytes)
        var (good, keys, rejected): ([Key], [Key], [RejectedKey]) = ([], [], [])
        for entry in entries {
            do throws(KeyRejection) {
                good.append(try Key(entry, allowing: allowed))
            } catch {
                rejected.append(RejectedKey(keyIdentifier: entry.object?["kid"]?.string, reason: error))
            }
        }
        for key in good {
            // Of keys that tokens could not tell apart none is trusted.
            if good.contains(where: { $0.isNamed(as: key) && $0.numbers != key.numbers }) {
                rejected.append(RejectedKey(keyIdentifier: key.keyIdentifier, reason: .conflictingIdentifier))
            } else if !keys.contains(where: { $0.isSame(as: key) }) {
                keys.append(key)
            }
        }
        (self.keys, self.rejected) = (keys, rejected)
        algorithms = KeyAlgorithm.names(of: entries)
    }

    private static func entries(of bytes: [UInt8]) throws(KeySetError) -> [JSONValue] {
        let object = try rethrowing(as: { _ in KeySetError.notJSON }) { () throws(JSONError) in
            try StrictJSON.object(bytes, longest: longest)
        }
        guard let entries = object["keys"]?.array else { throw .noKeyList }
        guard entries.count <= mostKeys else { throw .tooManyKeys(entries.count) }
        return entries
    }
}

/// Why a document is not a set of keys.
package enum KeySetError: Error, Equatable, Sendable {
    /// The document is not one JSON object within the limits (V-20).
    case notJSON
    /// The document has no list under `keys`.
    case noKeyList
    /// The document has more keys than ``KeySetDocument/mostKeys``.
    case tooManyKeys(Int)
}
