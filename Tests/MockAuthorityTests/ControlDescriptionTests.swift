import HTTP
import JSON
@testable import MockAuthority
import Platform
import Support
import Testing

@Suite("The controls and the configuration are what their description says", .timeLimit(.minutes(15)))
struct ControlDescriptionTests {
    static let operations = ControlDescription.operations

    private static func document(_ name: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return String(decoding: try File.read("/\(root)/docs/\(name)"), as: UTF8.self)
    }

    @Test("Every row of the controls is described, and nothing else is")
    func rows() {
        let rows = Routes.controls.flatMap { row in row.methods.names.map { "\($0) \(row.path)" } }
        #expect(Self.operations.map { "\($0.method) \($0.path)" }.sorted() == rows.sorted())
    }

    @Test("docs/mock-authority.openapi.json is what the mock serves")
    func copy() async throws {
        let served = try await TestAuthority().get("/_mock/openapi.json")
        #expect(served.headers["Content-Type"] == "application/json; charset=utf-8")
        let copy = try Self.document("mock-authority.openapi.json")
        #expect(
            copy == served.text, "curl -s http://127.0.0.1:3001/_mock/openapi.json > docs/mock-authority.openapi.json")
        let paths = try served.json()["paths"]?.object?.names ?? []
        #expect(Set(paths) == Set(Routes.controls.map { "/\($0.path)" }))
    }

    @Test("Each example is answered as described", arguments: operations.indices)
    func examples(index: Int) async throws {
        let operation = Self.operations[index]
        let mock = TestAuthority()
        _ = try await mock.get(RunControlTests.keys)
        let request = operation.example
        #expect(try RequestTarget(parsing: request.target).path.count == operation.path.split(separator: "/").count)
        let response = try await mock.ask(Method(operation.method), request.target, body: request.body)
        let wanted: HeaderFields = ["Accept": "application/json"]
        let json = try await mock.ask(Method(operation.method), request.target, body: request.body, headers: wanted)
        switch operation.answer {
        case .nothing: #expect(response.status == 204)
        case .json(_, let type):
            let differences = differences(try JSONValue(parsing: response.body), type)
            #expect(response.status == 200 && differences == [])
        case .textOrJSON(_, let type):
            #expect(response.status == 200 && response.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let differences = differences(try JSONValue(parsing: json.body), type)
            #expect(json.status == 200 && differences == [])
        }
    }

    @Test("Each refuses a tenant that there is not, with the status that is described", arguments: operations.indices)
    func refusals(index: Int) async throws {
        let operation = Self.operations[index]
        let mark = operation.example.target.contains("?") ? "&" : "?"
        let target = "\(operation.example.target)\(mark)profile=bogus"
        let mock = TestAuthority()
        let response = try await mock.ask(Method(operation.method), target, body: operation.example.body)
        #expect(response.status == 400)
        let paths = try await mock.get("/_mock/openapi.json").json()["paths"]?.object
        let described = paths?["/\(operation.path)"]?.object?[operation.method.lowercased()]?.object
        #expect(described?["responses"]?.object?["400"] != nil)
    }

    /// Where a value is not of a type.
    private func differences(_ value: JSONValue, _ type: ControlType, at place: String = "") -> [String] {
        switch type {
        case .any: []
        case .text: value.string == nil ? [place] : []
        case .truth: value.boolean == nil ? [place] : []
        case .number(let range): value.integer.map(range.contains) == true ? [] : [place]
        case .choice(let choices): value.string.map(choices.contains) == true ? [] : [place]
        case .texts: differences(value, .list(.text), at: place)
        case .members: value.object == nil ? [place] : []
        case .list(let type):
            value.array?.enumerated().flatMap { differences($1, type, at: "\(place)[\($0)]") } ?? [place]
        case .object(let members): differences(value.object, members, at: place)
        }
    }

    private func differences(_ object: JSONObject?, _ members: [ControlMember], at place: String) -> [String] {
        guard let object else { return [place] }
        let unknown = object.names.filter { name in !members.contains { $0.name == name } }
        return unknown.map { "\(place).\($0) is not described" }
            + members.flatMap { member -> [String] in
                guard let value = object[member.name] else {
                    return member.isRequired ? ["\(place).\(member.name)"] : []
                }
                return differences(value, member.type, at: "\(place).\(member.name)")
            }
    }

    /// The names that a refusal lists after `Known:`.
    private func known(_ text: String) -> [String] {
        guard let list = text.split(separator: "Known: ").dropFirst().first else { return [] }
        return list.split(separator: "\n").first?.dropLast().split(separator: ", ").map(String.init) ?? []
    }

    @Test("The members of each body are those that the control takes, and the required ones are required")
    func members() async throws {
        let mock = TestAuthority()
        for operation in Self.operations where !operation.body.isEmpty {
            let target = operation.example.target
            let empty = try await mock.ask(Method(operation.method), target, body: "{}")
            #expect((empty.status == 400) == operation.body.contains { $0.isRequired }, "\(operation.path)")
            // Keys take their step from one member, and look at no other.
            if operation.path == Routes.keyControl.path { continue }
            let refused = try await mock.ask(Method(operation.method), target, body: #"{"?":1}"#)
            #expect(refused.status == 400 && known(refused.text) == operation.body.map(\.name), "\(operation.path)")
        }
    }

    @Test("The parameters of a token are those that the control takes")
    func parameters() async throws {
        let refused = try await TestAuthority().get("/_mock/token?user=alice&colour=red")
        let token = try #require(Self.operations.first)
        #expect(refused.status == 400)
        #expect(Set(known(refused.text)) == Set(token.parameters.map(\.name) + ["run", "profile", "tenant"]))
    }

    @Test("The example of a configuration is one, and has every member that is read")
    func configuration() throws {
        let text = try Self.document("mock-authority.md")
        let example = try #require(text.between("```json\n", "```"))
        let configuration = try Configuration(parsing: Array(example.utf8))
        #expect(configuration.tenant.name == "fabrikam.onmicrosoft.com" && configuration.policies.count == 2)
        #expect(configuration.users.first?.status.identityProvider == "facebook.com")
        #expect(configuration.entraTenants.map(\.tenant.id).last == "66666666-7777-4888-8999-aaaaaaaaaaaa")
        let file = try #require(try JSONValue(parsing: Array(example.utf8)).object)
        let members = known(try refusal(#"{"?":1}"#))
        #expect(Set(members) == Set(file.names))
        for name in ["tenant", "policies", "clients", "resources", "users", "externalID", "entra"] {
            let isList = file[name]?.array != nil
            let members = Set(known(try refusal(isList ? #"{"\#(name)":[{"?":1}]}"# : #"{"\#(name)":{"?":1}}"#)))
            let row = try #require(text.between("\n| `\(name)` | ", "\n"))
            for member in members { #expect(row.contains("`\(member)`") || name == "entra", "\(member) of \(name)") }
            if ["externalID", "entra"].contains(name) { continue }
            let shown = Set((file[name]?.array ?? [file[name] ?? .null]).flatMap { $0.object?.names ?? [] })
            #expect(shown == members, "\(name)")
        }
    }

    /// Why a configuration is refused.
    private func refusal(_ text: String) throws -> String {
        do throws(InputError) {
            _ = try Configuration(parsing: Array(text.utf8))
            return ""
        } catch {
            return error.message
        }
    }
}
