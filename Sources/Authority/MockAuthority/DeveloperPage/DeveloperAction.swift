import Basics
import HTTP
import JSON
import OpenSSL

/// What a form of the developer page asks for, each a request of a control.
enum DeveloperAction: String, Sendable {
    case addUser, changeUser, removeUser, revoke, keys, clock, fault, reset

    /// What is said when it was done.
    var outcome: String {
        switch self {
        case .addUser: "The user was added."
        case .changeUser: "The user was changed."
        case .removeUser: "The user was removed."
        case .revoke: "All grants of the user are void."
        case .keys: "The keys were changed."
        case .clock: "The clock was set."
        case .fault: "The fault was added."
        case .reset: "Everything is as at the start."
        }
    }

    /// Where the page shows what became of it.
    var section: DeveloperSection {
        switch self {
        case .addUser, .changeUser, .removeUser, .revoke: .users
        case .keys: .keys
        case .clock: .clock
        case .fault: .faults
        case .reset: .reset
        }
    }
}

extension HostContext {
    /// Does what the fields of a form say, by the functions of the controls.
    func perform(_ fields: Parameters) async throws(InputError) -> DeveloperAction {
        guard let action = fields["action"].flatMap(DeveloperAction.init(rawValue:)) else {
            throw InputError(message: "The form names no action that is known.")
        }
        switch action {
        case .addUser: try addUser(fields)
        case .changeUser: try changeUser(fields)
        case .removeUser: run.directory.remove(try known(fields["user"] ?? "").objectID)
        case .revoke: _ = try revoke(try fields.member(texts: ["user"]))
        case .keys: try await takeStep(fields)
        case .clock: _ = try setClock(try fields.member(numbers: ["skew_s"]))
        case .fault: try addFault(of: fields)
        case .reset: _ = reset()
        }
        return action
    }

    private func addUser(_ fields: Parameters) throws(InputError) {
        guard let email = fields["email"] else { throw InputError(message: "Say the address of the user.") }
        if run.directory.user(called: email) != nil {
            throw InputError(message: "There is a user '\(email)' already.")
        }
        let member = try fields.member(
            texts: ["email", "password", "name", "givenName", "familyName"], json: ["claims"])
        _ = try putUser(email, member)
    }

    private func changeUser(_ fields: Parameters) throws(InputError) {
        let user = try known(fields["user"] ?? "")
        let emptied = ["email", "name", "givenName", "familyName"]
        let member = try fields.member(texts: ["password"], emptied: emptied, json: ["claims"], truths: ["disabled"])
        _ = try putUser(user.objectID, member)
    }

    private func addFault(of fields: Parameters) throws(InputError) {
        let numbers = ["times", "status", "delay_ms", "retry_after"]
        _ = try addFault(try fields.member(texts: ["at", "body"], numbers: numbers, truths: ["cut"]))
    }

    private func takeStep(_ fields: Parameters) async throws(InputError) {
        guard let step = fields["do"].flatMap(KeyStep.init(rawValue:)) else {
            throw InputError(message: "Say what to do with the keys.")
        }
        do throws(RSAError) {
            _ = try await authority.keys.take(step)
        } catch {
            throw .noKey
        }
    }
}

extension Parameters {
    /// The fields of a form as the JSON of a control; those that are empty are left out, except texts that may be emptied
    /// and objects, which then have no members.
    ///
    /// What is not a number stays a text, so that the control says what is wrong with it.
    fileprivate func member(
        texts: [String] = [], emptied: [String] = [], numbers: [String] = [], json: [String] = [], truths: [String] = []
    ) throws(InputError) -> ConfigurationMember {
        var object = JSONObject()
        for name in texts { object[name] = self[name].map { .string($0) } }
        for name in emptied { object[name] = values(name).first.map { .string($0) } }
        for name in numbers {
            object[name] = self[name].map { text in Int64(text).map { .integer($0) } ?? .string(text) }
        }
        for name in truths { object[name] = .boolean(self[name] != nil) }
        for name in json {
            guard let text = values(name).first else { continue }
            object[name] = [:]
            if text.isEmpty { continue }
            object[name] = try rethrowing(as: { _ in InputError(message: "'\(name)' is not JSON.") }) {
                () throws(JSONError) in try JSONValue(parsing: Array(text.utf8))
            }
        }
        return try ConfigurationMember(.object(object), place: "the form")
    }
}
