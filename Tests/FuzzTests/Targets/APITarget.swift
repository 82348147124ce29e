import HTTP
import JSON
import Support
import TaskAPI
import Tokens

/// Requests, one after the other, to an API over an empty store: every answer can be sent, and none says that the
/// server is at fault.
func checkAPI(_ input: [UInt8]) throws {
    let api = TaskAPI(TaskAPIConfiguration(store: MemoryTaskStore(), verifier: OneToken()))
    for piece in input.pieces.prefix(8) {
        guard let request = FuzzRequest(piece), request.body.count <= 65536 else { continue }
        let response = waiting { await api.decide(on: request.head).answered(request.body) }
        try response.checkSendable()
        try checkAnswer(response, request)
    }
}

/// One good token; every other is refused.
struct OneToken: TokenVerifier {
    func beginVerifying(_ token: String) throws(TokenRefusal) -> Verification {
        guard token == "good" else { throw .badSignature }
        return .verified(
            Principal(owner: "o", name: "Ä", policy: nil, scopes: [], expiry: 1_800_000_000, issued: 0))
    }
}

private func checkAnswer(_ response: Response, _ request: FuzzRequest) throws {
    let status = response.status.rawValue
    try require(status < 500, "a request cannot make the server fail, \(status)")
    let type = response.headers["Content-Type"] ?? ""
    if type.contains("json"), !response.body.isEmpty {
        try require((try? JSONValue(parsing: response.body)) != nil, "an answer of JSON is JSON")
    }
    let isTask = type.hasPrefix("application/json") && request.head.target.path.starts(with: ["api", "tasks"])
    if isTask, (200..<300).contains(status) {
        try require(request.isCredible, "without the token no task is shown or changed")
    }
}

extension FuzzRequest {
    /// Whether the good token was presented.
    fileprivate var isCredible: Bool {
        // Blanks may follow it.
        (head.headers["Authorization"] ?? "").contains("good")
    }
}
