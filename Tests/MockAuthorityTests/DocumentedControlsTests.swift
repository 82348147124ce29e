import HTTP
import JSON
@testable import MockAuthority
import Platform
import Support
import Testing

@Suite("docs/mock-authority.md shows every control and every member")
struct DocumentedControlsTests {
    private static func document(_ name: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return String(decoding: try File.read("/\(root)/docs/\(name)"), as: UTF8.self)
    }

    /// The method and the path of a command of the document; the parts after `_mock/users/` are names.
    private static func call(_ command: Substring) -> String? {
        guard let address = command.firstRange(of: "3001/_mock") else { return nil }
        var path = "_mock" + command[address.upperBound...].prefix { !"?' ".contains($0) }
        if path.hasPrefix("_mock/users/") { path = "_mock/users/{name}" }
        let words = command.split(separator: " ")
        let named = words.firstIndex(of: "-X").map { String(words[$0 + 1]) }
        return "\(named ?? (words.contains("-d") ? "POST" : "GET")) \(path)"
    }

    @Test func `Every control has an example, which readme-check runs`() throws {
        let calls = try Set(Self.document("mock-authority.md").split(separator: "\n").compactMap(Self.call))
        for row in Routes.controls {
            for method in row.methods.map(\.name) { #expect(calls.contains("\(method) \(row.path)")) }
        }
    }

    @Test func `Every member of a body and every parameter of a token is named`() async throws {
        let text = try Self.document("mock-authority.md")
        let mock = TestAuthority()
        var refusals = [try await mock.get("/_mock/token?user=alice&colour=red")]
        for row in Routes.controls where !row.path.contains("{") && row.path != Routes.keyControl.path {
            guard row.methods.map(\.name).contains("POST"), !row.path.hasSuffix("reset") else { continue }
            refusals.append(try await mock.ask(.post, "/\(row.path)", body: #"{"?":1}"#))
        }
        refusals.append(try await mock.ask(.put, "/_mock/users/dora", body: #"{"?":1}"#))
        for refused in refusals {
            let names = known(refused.text)
            #expect(refused.status == 400 && !names.isEmpty, "\(refused.text)")
            for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
        }
    }

    /// The names that a refusal lists after `Known:`.
    private func known(_ text: String) -> [String] {
        guard let list = text.split(separator: "Known: ").dropFirst().first else { return [] }
        return list.split(separator: "\n").first?.dropLast().split(separator: ", ").map(String.init) ?? []
    }

    /// The declarations of a file that take the row which is called like them.
    private func declared(in file: String) throws -> [String] {
        let source = try Self.document("../Sources/Authority/MockAuthority/\(file)")
        return source.split(separator: "\n").filter { $0.contains("{ row(") }.compactMap { line in
            let words = line.replacing("package ", with: "").split(separator: " ")
            return words.dropFirst(2).first.map { String($0.prefix { $0 != "(" && $0 != ":" }) }
        }
    }

    @Test func `Each row of a table is one that the code names, and the other way round`() throws {
        #expect(try Set(declared(in: "BadTokens/BadToken.swift")) == BadTokenRule.table.names)
        #expect(Set(Refusal.Row.allCases.map(\.rawValue)) == Refusal.table.names)
    }

    @Test func `The example of a configuration is one, and has every member that is read`() throws {
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
        thrown { () throws(InputError) in _ = try Configuration(parsing: Array(text.utf8)) }?.message ?? ""
    }
}
