import Support
import Curl
import Testing

/// `openssl s_server` with a certificate of its own for 127.0.0.1, which answers every GET with a page.
private final class TLSServer {
    let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess
    var certificate: String { folder.file("cert.pem") }

    init() throws {
        folder = try TemporaryFolder()
        // A port that was free a moment ago.
        let probe = RawServer { _ in }
        port = probe.port
        probe.stop()
        let (key, certificate) = (folder.file("key.pem"), folder.file("cert.pem"))
        try ChildProcess.run(
            "/usr/bin/openssl",
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
                + ["-days", "1", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"])
        process = try ChildProcess(
            "/usr/bin/openssl",
            ["s_server", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-www", "-quiet"])
    }

    /// Fetches until the server listens.
    func fetch(host: String = "127.0.0.1", caFile: String?) throws -> FetchedDocument {
        let request = FetchRequest(url: "https://\(host):\(port)/", connectTime: .seconds(5), caFile: caFile)
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
}

@Suite("TLS is verified (V-75)")
struct TLSTests {
    @Test func `A server is trusted through the CA file, and neither without it nor under another name`() throws {
        let server = try TLSServer()
        #expect(try server.fetch(caFile: server.certificate).body.isEmpty == false)
        for refusal in [server.refusal(caFile: nil), server.refusal(host: "localhost", caFile: server.certificate)] {
            #expect(refusal?.name == "certificateNotTrusted")
        }
        // A program may ask its own server, whose certificate names another host.
        #expect(try HTTPFetcher.askOwnServer("https://localhost:\(server.port)/").status == 200)
        #expect(server.refusal(caFile: "/nowhere.pem") == .badCAFile(path: "/nowhere.pem"))
    }
}
