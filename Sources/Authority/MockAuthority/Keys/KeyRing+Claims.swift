import Basics
import JSON
import OpenSSL

extension KeyRing {
    /// The claims of a token that a key of the ring signed, also one that is no longer published.
    ///
    /// The caller checks the times.
    func claims(of token: String) async -> JSONObject? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = object(parts[0]), let signature = Base64.decodeLenient(parts[2]),
            let state = try? await current(),
            let signer = state.all.first(where: { $0.key.identifier == header["kid"]?.string }),
            let key = try? signer.key.privateKey.publicKey(),
            key.verifies(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return object(parts[1])
    }

    private func object(_ part: Substring) -> JSONObject? {
        Base64.decodeLenient(part).flatMap { (try? JSONValue(parsing: $0))?.object }
    }
}
