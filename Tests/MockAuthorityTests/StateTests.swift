import Basics
import Glibc
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Platform
import Support
import Testing

@Suite("A state folder outlives the authority")
struct StateTests {
    private let home: TemporaryFolder
    private var path: String { home.path }
    private let clock = ManualClock(wallMilliseconds: TestAuthority.now * 1000)

    init() throws { home = try TemporaryFolder() }

    private func mock() throws -> TestAuthority {
        TestAuthority(try MockAuthority(configuration: Configuration(), time: clock, folder: try StateFolder(path)))
    }

    @Test func `Keys, accounts and refresh tokens are the same after a restart`() async throws {
        let before = try mock()
        let refreshToken = try await before.refreshToken()
        _ = try await before.ask(.put, "/_mock/users/dora@example.com", body: #"{"password":"Passw0rd!"}"#)
        let keys = try await before.keySet()
        let after = try mock()
        #expect(try await after.keySet() == keys)
        #expect(try await after.refresh(refreshToken).status == 200)
        let users = try await after.list("users")
        #expect(users.count == 3)
        _ = try await after.ask(.post, "/_mock/reset")
        let reset = try JSONValue(parsing: try await mock().get("/_mock/users").body).array
        #expect(reset?.count == 2)
    }

    @Test("Keys and accounts of External ID and Entra are the same, too, except the keys of personal accounts")
    func otherTenants() async throws {
        func mock() throws -> TestAuthority {
            TestAuthority(try MockAuthority(configuration: .standard(), time: clock, folder: try StateFolder(path)))
        }
        let queries = ["profile=external-id", "profile=entra", "profile=entra&tenant=northwind.onmicrosoft.com"]
        let before = try mock()
        var keys: [String] = []
        for (number, query) in queries.enumerated() {
            _ = try await before.ask(.put, "/_mock/users/dora\(number)@example.com?\(query)", body: "{}")
            keys.append(try await before.get("/_mock/keys?\(query)").text)
        }
        #expect(Set(keys).count == 2)
        let after = try mock()
        for (number, query) in queries.enumerated() {
            #expect(try await after.get("/_mock/keys?\(query)").text == keys[number])
            let users = try await after.list("users?\(query)")
            #expect(users.count == 3 && users.last?["email"]?.string == "dora\(number)@example.com")
        }
    }

    @Test func `The certificate of a client is kept with its key, and a damaged one is refused`() throws {
        func certificates() throws -> [ClientCertificate] {
            let authority = try MockAuthority(configuration: .standard(), time: clock, folder: StateFolder(path))
            return authority.others.flatMap { $0.configuration.applications.clients.flatMap(\.certificates) }
        }
        let first = try certificates()
        #expect(first.count == 3 && Set(first.map(\.thumbprints)).count == 1)
        #expect(try certificates() == first)
        let folder = try StateFolder(path)
        let key = try PrivateKey(pem: try #require(try folder.read(text: "client.pem")))
        #expect(try key.numbers == #require(first[0].key))
        try folder.write("client.pem", text: key.pem)
        #expect(throws: OperatorError.self) { try certificates() }
    }

    /// Accounts that a control takes or refuses, at the limits of what it reads.
    static let bodies = [
        "empty address": #"{"email":""}"#,
        "deep claims": "{\"claims\":{\"a\":\(String(repeating: "[", count: 30))\(String(repeating: "]", count: 30))}}",
        "long claims": "{\"claims\":{\"a\":\"\(String(repeating: "x", count: 60_000))\"}}",
        "many revocations": #"{"generation":9007199254740992}"#,
    ]

    @Test(arguments: bodies.keys.sorted())
    func `Whatever a control took, the next start reads`(name: String) async throws {
        let before = try mock()
        let body = Self.bodies[name] ?? ""
        for user in ["alice@example.com"] + (1...18).map({ "user\($0)@example.com" }) {
            _ = try await before.ask(.put, "/_mock/users/\(user)", body: body)
            _ = try await before.ask(.post, "/_mock/revoke", body: "{\"user\":\"\(user)\"}")
        }
        let users = try await before.get("/_mock/users").text
        #expect(try await mock().get("/_mock/users").text == users)
    }

    @Test func `The certificate is kept while it is valid, and its authority longer`() throws {
        let folder = try StateFolder(path)
        let first = try ServerCertificate(in: folder, names: [], time: clock)
        #expect(first.chain.split(separator: "-----BEGIN CERTIFICATE-----").count == 2)
        #expect(first.authorityFile == "\(path)/ca.pem")
        let authority = try File.read(first.authorityFile)
        #expect(try ServerCertificate(in: folder, names: [], time: clock) == first)
        let named = try ServerCertificate(in: folder, names: ["mock.test"], time: clock)
        #expect(named != first)
        clock.advance(seconds: 370 * 86400)
        #expect(try ServerCertificate(in: folder, names: ["mock.test"], time: clock) != named)
        #expect(try File.read(first.authorityFile) == authority)
    }

    @Test
    func `A truncated file, or one of another program, is refused with the reason, and not overwritten`() async throws {
        let folder = try StateFolder(path)
        _ = try await mock().keySet()
        _ = try ServerCertificate(in: folder, names: [], time: clock)
        // One folder serves all names, since making its keys takes time.
        for name in ["secret", "ca.key", "ca.pem", "tls.key", "tls.pem", "keys.json"] {
            let whole = try File.read("\(path)/\(name)")
            try cut(name, whole, folder)
            try File.replace("\(path)/\(name)", with: whole)
        }
        _ = try await mock().keySet()
        try File.replace("\(path)/tls.key", with: File.read("\(path)/ca.key"))
        let error = #expect(throws: OperatorError.self) {
            _ = try ServerCertificate(in: folder, names: [], time: clock)
        }
        #expect(error == .unreadable(file: "\(path)/tls.pem"))
    }

    private func cut(_ name: String, _ whole: [UInt8], _ folder: StateFolder) throws {
        let parts = [0, whole.count / 2, whole.count - 30].filter { (0..<whole.count).contains($0) }
        for bytes in parts.map({ Array(whole.prefix($0)) }) + [Array("[1]".utf8)] {
            try File.replace("\(path)/\(name)", with: bytes)
            let error = #expect(throws: OperatorError.self, "\(name): \(bytes.count) bytes") {
                _ = try mock()
                // Another name, so that the certificate is to be made anew by the authority's key.
                let names = name.hasPrefix("ca.") ? ["mock.test"] : []
                _ = try ServerCertificate(in: folder, names: names, time: clock)
            }
            #expect(error == .unreadable(file: "\(path)/\(name)"))
            #expect(error?.message.contains("put a copy back, or remove it to begin anew") == true)
            #expect(try File.read("\(path)/\(name)") == bytes)
        }
    }

    @Test func `Only the owner of the files can read secrets`() async throws {
        _ = try await mock().keySet()
        _ = try ServerCertificate(in: StateFolder(path), names: [], time: clock)
        for name in ["secret", "keys.json", "ca.key", "tls.key"] {
            var facts = stat()
            #expect(stat("\(path)/\(name)", &facts) == 0 && facts.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test func `A second authority cannot use the folder until the first ends`() throws {
        let folder = try StateFolder(path)
        do {
            let lock = try folder.lock()
            let error = #expect(throws: OperatorError.self) { _ = try StateFolder(path).lock() }
            #expect(error?.failure == "another mock-authority uses the folder \(path)")
            _ = consume lock
        }
        _ = try folder.lock()
    }
}
