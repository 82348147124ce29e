import HTTP
import JSON
import Support
import TaskAPI
import Tasks
import Testing

@Suite("The table of routes and the contract agree")
struct ContractTests {
    private let contract: Contract
    private let table = TestedAPI(.inProcess).api.routes

    init() throws {
        contract = try Contract()
    }

    /// A pattern without the names of its parts: OpenAPI takes `/{id}` and `/{owner}` for the same path.
    private func shape(_ pattern: String) -> String {
        pattern.split(separator: "/").map { $0.hasPrefix("{") ? "/{}" : "/\($0)" }.joined()
    }

    /// The rows that a path of the contract describes.
    private func rows(_ path: String) -> [RouteDefinition] {
        table.rows.filter { $0.route != .file }.map(\.definition).filter { shape($0.pattern) == shape(path) }
    }

    @Test func `The contract has every path of the table`() {
        let paths = Set(contract.paths.map { shape($0.path) })
        #expect(paths.count > 10)
        // Files are in the folder Public, nothing else is below /api/, and only old clients put a text into the path.
        // Generated clients cannot send the slash in the address of the metadata by path.
        let left: Set<Route> = [.file, .unknownBelowAPI, .taskByText, .protectedResourceByPath]
        for (route, definition) in table.rows {
            #expect(paths.contains(shape(definition.pattern)) != left.contains(route), "\(definition.pattern)")
        }
    }

    @Test("A task has the contract's members, and the names for old clients in docs/internals/clients.md")
    func names() async throws {
        let api = TestedAPI(.inProcess)
        let details = TaskDetail.allCases.map { #","\#($0.name)":\#($0.samples[0].rendered)"# }.joined()
        let body = #"{"task":"Buy milk"\#(details)}"#
        let answer = try await api.send("POST", "/api/tasks", as: "alice", [("Content-Type", "application/json")], body)
        let task = try JSONValue(parsing: answer.body)
        let oldNames = ["TaskID": "Id", "Owner": "owner", "Text": "task", "Completed": "completed"]
        let found = try #require(task.object).members.map(\.name)
        #expect(found.sorted() == (contract.taskMembers + oldNames.keys).sorted())
        let clients = String(decoding: try TestFile("../../docs/internals/clients.md").bytes(), as: UTF8.self)
        for (old, name) in oldNames {
            #expect(task[old] == task[name], "\(old)")
            #expect(clients.contains("| `\(name)` | `\(old)` |"), "\(old)")
        }
    }

    @Test func `The table has every path of the contract, and no earlier row takes its requests`() throws {
        for (path, _) in contract.paths {
            let example = path.replacing("{id}", with: "1")
            let match = table.match(try RequestTarget(parsing: example, host: nil))
            if rows(path).isEmpty {
                #expect(match.route == .file, "\(path) is not in the table")
                #expect(throws: Never.self, "\(path)") { try TestFile("../../Public/\(match["file"])").bytes() }
            } else {
                #expect(shape(match.definition.pattern) == shape(path), "\(path)")
            }
        }
    }

    @Test func `Methods, tokens, scopes and bodies are the same`() {
        for (path, operations) in contract.paths {
            let rows = rows(path)
            let isProtected = rows.first?.isProtected ?? false
            // HEAD is mentioned once, in the introduction: a method of a generated client for it would be of no use.
            let methods = isProtected ? Set(rows.flatMap(\.methods)).subtracting([.head]) : [.get]
            #expect(Set(operations.keys) == methods, "\(path)")
            for (method, operation) in operations {
                let routed = rows.compactMap { $0.operation(method) }
                #expect(operation.needsToken == isProtected, "\(method.name) \(path)")
                #expect(
                    Set([operation.scope].compactMap(\.self)) == Set(routed.map(\.scope.rawValue)),
                    "\(method.name) \(path)")
                #expect(!operation.hasBody || routed.contains(where: \.readsBody), "\(method.name) \(path)")
            }
        }
    }

    @Test func `An id is an integer, and no reserved name reads as one`() throws {
        #expect(contract.identifier["type"] == "integer" && contract.identifier["format"] == "int64")
        let prefix = "/api/tasks/"
        let names = table.rows.map(\.definition.pattern).filter { $0.hasPrefix(prefix) }.map {
            $0.dropFirst(prefix.count)
        }
        for name in names where !name.contains("{") && !name.contains("/") {
            #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) }, "\(name): see the rules of Route")
        }
    }
}
