import HTTP
import JSON
import OpenSSL

extension HostContext {
    /// `GET /_mock/keys`: every key and its state.
    func keys() async -> Response {
        await Response.json { () throws(PrivateKeyError) in try await authority.keys.current().json }
    }

    /// `POST /_mock/keys {"do":"rotate"}`: takes the step, and shows the keys after it.
    func changeKeys() -> Decision {
        .answerBody(limit: RequestHead.longestBody) { body in
            let name = (try? JSONValue(parsing: body))?.object?["do"]?.string
            guard let step = name.flatMap(KeyStep.init(rawValue:)) else {
                let steps = KeyStep.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
                return Response.text("Say what to do: {\"do\":\"rotate\"}. It is one of \(steps).", status: 400)
            }
            return await Response.json { () throws(PrivateKeyError) in try await authority.keys.take(step).json }
        }
    }

    /// `PUT /_mock/keys` with the answer to an earlier `GET`: gives each key the state that the key had then.
    func restoreKeys(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        var uses: [String: KeyRing.State.Use] = [:]
        for row in try member.list("keys") ?? [] { uses[try row.required("kid")] = try row.choice("state") }
        if let state = authority.keys.restore(uses) { return state.json }
        throw InputError(message: "Send what GET answered: one of the keys that it lists must be active.")
    }
}

extension KeyRing.State {
    fileprivate var json: JSONValue {
        let keys = all.map { key, use -> JSONValue in
            ["kid": .string(key.identifier), "state": .string(use.rawValue)]
        }
        return ["keys": .array(keys)]
    }
}
