import Basics
import Curl
import JSON

/// A tenant of a mock-authority that runs, reached by its controls.
struct RunningMock {
    let address: String
    let caFile: String?
    /// The parameters of a query that name the tenant.
    let tenant: [(name: String, value: String)]

    func ask(
        _ control: String, _ query: [(name: String, value: String)] = [], method: String = "GET",
        content: JSONValue? = nil
    ) throws(OperatorError) -> JSONValue {
        let text = (tenant + query).map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        // A key that has to be made first takes seconds on a busy machine.
        var request = FetchRequest(
            url: "\(address)/_mock/\(control)?\(text)", totalTime: .seconds(30), caFile: caFile, allowHTTP: true)
        request.method = method
        request.content = content.map { String(decoding: $0.serialized(), as: UTF8.self) }
        let (status, body) = try rethrowing(as: {
            if case .timedOut = $0 {
                return OperatorError.unknown("\(address): \($0.message). Is the machine busy? Try again.")
            }
            return OperatorError.unknown(
                "\(address): \($0.message). Start mock-authority there, or name it with --authority.")
        }) { () throws(FetchError) in try HTTPFetcher().exchange(request) }
        guard status == 200 else {
            throw .unknown("The mock refuses \(control): \(String(decoding: body.prefix(500), as: UTF8.self))")
        }
        guard let value = try? JSONValue(parsing: body, limits: JSONLimits(bytes: body.count)) else {
            throw .unknown("\(address) answers \(control) without JSON. Is it a mock-authority of this version?")
        }
        return value
    }

    func token(_ query: [(name: String, value: String)]) throws(OperatorError) -> String {
        let answer = try ask("token", query)
        return answer.member("access_token").string ?? answer.text("id_token")
    }

    /// The account that a token is for, unless another is wanted.
    func firstUser() throws(OperatorError) -> String {
        guard let user = try ask("users").array?.first else {
            throw .unknown("The tenant has no users. Add one (PUT /_mock/users/alice), or name another tenant.")
        }
        return user.text("email")
    }

    func removeFaults() throws(OperatorError) { _ = try ask("faults", method: "DELETE") }

    /// Takes away all faults, and gives each key the state that it had in an answer of `GET /_mock/keys`.
    func restore(_ keys: JSONValue) throws(OperatorError) {
        try removeFaults()
        _ = try ask("keys", method: "PUT", content: keys)
    }
}

extension JSONValue {
    /// The value of a member, which is null if there is none.
    func member(_ name: String) -> JSONValue { object?[name] ?? .null }

    /// The text of a member, which is empty if there is none.
    func text(_ name: String) -> String { member(name).string ?? "" }

    /// The names of the keys in the set, in an answer of `GET /_mock/keys`.
    var publishedKeys: [String] {
        (member("keys").array ?? []).filter { $0.text("state") != "retired" }.map { $0.text("kid") }
    }

    /// The name of the key that signs, in an answer of `GET /_mock/keys`.
    var activeKey: String { member("keys").array?.first { $0.text("state") == "active" }?.text("kid") ?? "" }
}
