import Basics
import HTTP
@testable import MockAuthority
import OpenSSL
import Platform
import Support

/// Requests, one after the other, to a mock authority: nothing traps, and every answer can be sent.
///
/// `$CODE`, `$REFRESH` and `$COOKIE` in a request are replaced by what earlier answers gave.
func checkMock(_ input: [UInt8]) throws {
    try require(Base64.decodeLenient(Base64.encode(input)) == input, "what is encoded in base64 can be decoded")
    // A delay would be waited for.
    guard !input.text.contains("delay") else { return }
    let authority = MockAuthority(
        configuration: .standard(), time: ManualClock(), keyGenerator: MockAuthority.fuzzKeys)
    var given = GivenValues()
    for piece in input.pieces.prefix(6) {
        guard let request = FuzzRequest(given.filled(piece)), request.body.count <= 65536 else { continue }
        let response = waiting { await authority.decide(on: request.head).answered(request.body) }
        try response.checkSendable()
        given.learn(from: response)
    }
}

extension MockAuthority {
    /// One key again and again: making one takes a tenth of a second.
    fileprivate static let fuzzKeys = KeyGenerator { () throws(PrivateKeyError) in Support.SigningKey.shared }
}

/// What answers gave for later requests.
private struct GivenValues {
    private var values: [(name: String, value: String)] = []

    func filled(_ request: [UInt8]) -> [UInt8] {
        var bytes = request
        for (name, value) in values { bytes = bytes.replacing(Array(name.utf8), with: Array(value.utf8)) }
        return bytes
    }

    mutating func learn(from response: Response) {
        let cookies = response.headers.values("Set-Cookie").map { String($0.prefix { $0 != ";" }) }
        if !cookies.isEmpty { set("$COOKIE", cookies.joined(separator: "; ")) }
        let text = (response.headers["Location"] ?? "") + response.body.text
        if let code = text.value(after: "code=") { set("$CODE", code) }
        if let token = text.value(after: "\"refresh_token\":\"") { set("$REFRESH", token) }
        if let token = text.value(after: "\"csrf\":\"") { set("$CSRF", token) }
        if let transaction = text.value(after: "\"transId\":\"") { set("$TX", transaction) }
    }

    private mutating func set(_ name: String, _ value: String) {
        values.removeAll { $0.name == name }
        values.append((name, value))
    }
}

extension String {
    /// The characters of a token that follow a text.
    fileprivate func value(after text: String) -> String? {
        guard let start = firstRange(of: text)?.upperBound else { return nil }
        let value = self[start...].prefix { $0.isLetter || $0.isNumber || "-_.=".contains($0) }
        return value.isEmpty ? nil : String(value)
    }
}
