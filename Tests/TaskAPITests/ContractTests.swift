import Basics
import HTTP
import Support
import TaskAPI
import Testing

@Suite("The table of routes and the contract agree", .timeLimit(.minutes(15)))
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

    @Test("The contract has every path of the table")
    func everyRow() {
        let paths = Set(contract.paths.map { shape($0.path) })
        #expect(paths.count > 10)
        // Files are in the folder Public, and what is below /api/ else is nothing.
        for (route, definition) in table.rows where route != .file && route != .unknownBelowAPI {
            #expect(paths.contains(shape(definition.pattern)), "\(definition.pattern) is not in openapi.yaml")
        }
    }

    @Test("The table has every path of the contract, and no earlier row takes its requests")
    func everyPath() throws {
        for (path, _) in contract.paths {
            let example = path.replacing("{id}", with: "1").replacing("{owner}", with: "me")
                .replacing("{text}", with: "x").replacing("{resource}", with: "api/tasks")
            let match = table.match(try RequestTarget(parsing: example, host: nil))
            if rows(path).isEmpty {
                #expect(match.route == .file, "\(path) is not in the table")
                let file = path == "/" ? "index.html" : match["file"]
                #expect(throws: Never.self, "\(path)") { try TestFile("../../Public/\(file)").bytes() }
            } else {
                #expect(shape(match.definition.pattern) == shape(path), "\(path)")
            }
        }
    }

    @Test("Methods, tokens, scopes and bodies are the same")
    func operations() {
        for (path, operations) in contract.paths {
            let rows = rows(path)
            let isProtected = rows.first?.isProtected ?? false
            if isProtected {
                #expect(Set(operations.keys) == Set(rows.flatMap(\.methods)), "\(path)")
            } else {
                // HEAD of open paths is mentioned once, in the introduction.
                #expect(operations.keys.contains(.get) && Set(operations.keys).isSubset(of: [.get, .head]), "\(path)")
            }
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

    @Test("HEAD takes and answers what GET does")
    func head() {
        for (path, operations) in contract.paths {
            guard let get = operations[.get], let head = operations[.head] else { continue }
            #expect(get == head, "\(path): HEAD differs from GET in openapi.yaml")
        }
    }

    @Test("The pattern of {id} excludes the reserved names, and says which")
    func identifier() {
        let prefix = "/api/tasks/"
        let names = table.rows.map(\.definition.pattern).filter { $0.hasPrefix(prefix) }.map {
            $0.dropFirst(prefix.count)
        }
        let reserved = names.filter { !$0.contains("{") && !$0.contains("/") }
        // `.` and `..` are no segments of a path.
        let excluded = ([#"\.{1,2}"#] + reserved).joined(separator: "|")
        let expected = #"^(?!(?:\#(excluded))$)[^/\u0000]+$"#
        #expect(contract.identifierPattern == expected, "write it so in openapi.yaml, then scripts/openapi --write")
        for name in reserved {
            #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) }, "\(name): see the rules of Route")
        }
    }
}

@Suite("The version is one everywhere", .timeLimit(.minutes(15)))
struct VersionTests {
    @Test("Contract, image and deployment name the version of the programs")
    func version() throws {
        func text(_ file: String) throws -> String {
            String(decoding: try TestFile("../../\(file)").bytes(), as: UTF8.self)
        }
        #expect(try Contract().version == programVersion)
        let label = "org.opencontainers.image.version=\"\(programVersion)\""
        #expect(try text("Dockerfile").contains(label), "Dockerfile: \(label)")
        let image = "/task-server:\(programVersion)\n"
        for file in ["deploy/kubernetes.yaml", "deploy/kubernetes-postgresql.yaml"] {
            #expect(try text(file).contains(image), "\(file): \(image)")
        }
    }
}
