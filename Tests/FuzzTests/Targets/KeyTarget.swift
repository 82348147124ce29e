import Basics
import Curl
@testable import IssuerKeys
import OpenSSL
@testable import Tokens

/// Provider metadata and, after a line of `~~~`, a key set; and the whole input as the file of cached keys.
func checkKeys(_ input: [UInt8]) throws {
    let pieces = input.pieces
    let (metadata, keySet) = (pieces[0], pieces.count > 1 ? pieces[1] : pieces[0])
    for document in source.documents { try checkMetadata(metadata, document) }
    try checkKeySet(keySet)
    try checkLoading(metadata, keySet)
    try checkKeyFile(input)
}

/// One source of several documents, which lists tenants, so that every form of issuer may pass.
private let source = {
    var source = TokenSource(name: "fuzz", documents: documents, rules: ClaimRules(audiences: ["a"]))
    source.rules.tenants = AllowedTenants(listed: [], isAny: true)
    return source
}()

private let documents = [
    MetadataDocument(
        policy: "B2C_1_sign_in", metadataURL: "https://contoso.b2clogin.com/x/.well-known/openid-configuration",
        tenantIdentifier: "775527ff-9a37-4307-8b3d-cc311f58d925"),
    MetadataDocument(metadataURL: "http://127.0.0.1:3001/x/.well-known/openid-configuration"),
    MetadataDocument(metadataURL: "https://login.example/m", pinnedIssuer: "urn:pinned"),
]

private func checkMetadata(_ bytes: [UInt8], _ document: MetadataDocument) throws {
    guard let metadata = try? ProviderMetadata(parsing: bytes) else { return }
    try require(!metadata.issuer.isEmpty && !metadata.keySetURL.isEmpty, "metadata names an issuer and keys")
    guard (try? metadata.check(against: source.metadataRules(of: document))) != nil else { return }
    // libcurl's reading of the address decides where keys come from, not ours.
    if let host = fetchedHost(of: metadata.keySetURL), let keys = WebAddress(metadata.keySetURL) {
        try require(host == fetchedHost(of: document.metadataURL), "keys are on the host of the metadata")
        try require(
            keys.isEncrypted || IPAddress.isLoopback(host: host), "keys are fetched by https, or from this machine")
    }
    if let pinned = document.rules.pinnedIssuer {
        try require(metadata.issuer.utf8.elementsEqual(pinned.utf8), "a pinned issuer is the issuer")
    }
}

private func checkKeySet(_ bytes: [UInt8]) throws {
    guard let document = try? KeySetDocument(parsing: bytes) else { return }
    try require(document.keys.count + document.rejected.count <= 64, "the number of keys is limited")
    let names = Set(document.keys.map { Array("\($0.algorithm) \($0.keyIdentifier)".utf8) })
    try require(names.count == document.keys.count, "every key of an algorithm has a name of its own")
    for key in document.keys {
        switch (key.numbers, key.algorithm.keyKind) {
        case (.rsa(let modulus, let exponent), .rsa): try checkRSA(modulus, exponent)
        case (.ec(let x, let y), .p256): try require(x.count == 32 && y.count == 32, "a point has its length")
        case (.ec(let x, let y), .p384): try require(x.count == 48 && y.count == 48, "a point has its length")
        case (.ed25519(let point), .ed25519): try require(point.count == 32, "a point has its length")
        case (.rsa, _), (.ec, _), (.ed25519, _): try require(false, "the numbers are of the algorithm's kind")
        }
    }
}

private func checkRSA(_ modulus: [UInt8], _ exponent: [UInt8]) throws {
    let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    try require((2048...8192).contains(bits), "a modulus has 2048 to 8192 bits")
    try require(modulus.first != 0 && (modulus.last ?? 0) & 1 == 1, "a modulus is odd, without zeros before")
    try require(exponent.first != 0 && (1...4).contains(exponent.count), "an exponent is of 32 bits")
    try require(exponent != [1], "an exponent is not 1")
}

/// Takes the place of the provider: two documents, whatever is requested.
private struct Documents: DocumentFetcher {
    let metadataURL: String
    let metadata: [UInt8]
    let keySet: [UInt8]

    func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        FetchedDocument(body: request.url == metadataURL ? metadata : keySet)
    }

    func cancel() {}
}

private func checkLoading(_ metadata: [UInt8], _ keySet: [UInt8]) throws {
    for document in source.documents {
        let fetcher = Documents(metadataURL: document.metadataURL, metadata: metadata, keySet: keySet)
        var loader = DocumentLoader(source: source, fetcher: fetcher, distrusted: ["distrusted"], admitted: [])
        guard let load = try? loader.load(document, withMetadata: true, known: nil) else { continue }
        try require(!load.keys.keys.isEmpty, "a document that was loaded has keys")
        let names = load.keys.keys.map(\.published.keyIdentifier)
        try require(!names.contains("distrusted"), "a distrusted key is not used")
        for key in load.keys.keys {
            let forged = [UInt8](repeating: 0, count: key.key.signatureLength)
            let isNarrower = IssuerTenant.isTemplate(load.keys.issuer) && IssuerTenant.of(key.issuer) != nil
            try require(key.issuer == load.keys.issuer || isNarrower, "a key signs for the issuer of its document")
            try require(!key.key.verifies(signature: forged, of: []), "no key takes a signature of zeros")
        }
    }
}

private func checkKeyFile(_ bytes: [UInt8]) throws {
    let file = KeyFile(path: try FuzzFile.shared.holding(bytes))
    let trust = Duration.seconds(86_400)
    let now: Int64 = 1_700_000_000_000
    let read = { (distrusted: [String]) throws(OperatorError) in
        try file.read(source, distrusted: distrusted, now: now, trust: trust) { _ in }
    }
    guard let found = try? read(["distrusted"]) else { return }
    try require(found.count == source.documents.count, "every document has its result")
    for case let record? in found {
        try require(record.fetchedAt <= now, "no record is from the future")
        try require(!record.keys.keys.isEmpty, "a record has keys")
        try file.write([record], ofSource: 0)
        let again = try? read([])
        let isSame = again?.contains { $0?.keys.keys.elementsEqual(record.keys.keys) { $0.isSame(as: $1) } ?? false }
        try require(isSame ?? false, "a record is read as it was written")
    }
}
