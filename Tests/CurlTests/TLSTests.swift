import Support
import Curl
import Glibc
import Testing

/// `openssl s_server` with a certificate of its own for 127.0.0.1, which answers every GET with a page.
private final class TLSServer {
    let directory: String
    let port: UInt16
    private var process: pid_t = 0

    init(_ options: String...) throws {
        var template = Array("/tmp/curl-tests-XXXXXX".utf8CString)
        directory = String(cString: try #require(mkdtemp(&template)))
        // A port that was free a moment ago.
        let probe = RawServer { _ in }
        port = probe.port
        probe.stop()
        let made = try spawn(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(directory)/key.pem", "-out",
            "\(directory)/cert.pem", "-days", "1", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1")
        var status: Int32 = 0
        waitpid(made, &status, 0)
        try #require(status == 0)
        process = try spawn(
            ["openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-key", "\(directory)/key.pem", "-cert"]
                + ["\(directory)/cert.pem", "-www", "-quiet"] + options)
    }

    deinit {
        // A child of a worker thread inherits its mask, which blocks the gentler signals.
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        for file in ["key.pem", "cert.pem"] { unlink("\(directory)/\(file)") }
        rmdir(directory)
    }

    /// Fetches until the server listens.
    func fetch(host: String = "127.0.0.1", caFile: String?) throws -> FetchedDocument {
        let request = FetchRequest(url: "https://\(host):\(port)/", connectMilliseconds: 5000, caFile: caFile)
        var result: Result<FetchedDocument, FetchError> = .failure(.cancelled)
        eventuallyBlocking("the server listens") {
            result = Result { () throws(FetchError) in try HTTPFetcher().fetch(request) }
            guard case .failure(.couldNotConnect) = result else { return true }
            return false
        }
        return try result.get()
    }

    /// What the server is refused for.
    func refusal(host: String = "127.0.0.1", caFile: String?) -> FetchError? {
        do {
            _ = try fetch(host: host, caFile: caFile)
            return nil
        } catch { return error as? FetchError }
    }

    var certificate: String { "\(directory)/cert.pem" }
}

private func spawn(_ words: String...) throws -> pid_t { try spawn(words) }

private func spawn(_ words: [String]) throws -> pid_t {
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    for descriptor in [Int32(0), 1, 2] {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var process: pid_t = 0
    try #require(posix_spawnp(&process, words[0], &actions, nil, &arguments, environ) == 0)
    posix_spawn_file_actions_destroy(&actions)
    return process
}

@Suite("TLS is verified (V-75)", .timeLimit(.minutes(15)))
struct TLSTests {
    @Test("A server is trusted through the CA file, and neither without it nor under another name")
    func trust() throws {
        let server = try TLSServer()
        #expect(try server.fetch(caFile: server.certificate).body.isEmpty == false)
        guard case .certificateNotTrusted = server.refusal(caFile: nil) else {
            Issue.record("\(String(describing: server.refusal(caFile: nil)))")
            return
        }
        guard case .certificateNotTrusted = server.refusal(host: "localhost", caFile: server.certificate) else {
            Issue.record("\(String(describing: server.refusal(host: "localhost", caFile: server.certificate)))")
            return
        }
        #expect(server.refusal(caFile: "/nowhere.pem") == .badCAFile(path: "/nowhere.pem"))
    }

    @Test("TLS 1.1 is refused")
    func oldTLS() throws {
        let server = try TLSServer("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        guard case .handshakeFailed = server.refusal(caFile: server.certificate) else {
            Issue.record("\(String(describing: server.refusal(caFile: server.certificate)))")
            return
        }
    }
}
