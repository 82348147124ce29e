import Support
import Basics
import Curl
import Glibc
import Platform
import Testing

@Suite("A fetcher accepts one whole document and nothing else")
struct HTTPFetcherTests {
    private static func ok(_ body: String, _ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    /// The outcome of a fetch that is answered with these bytes.
    private func fetch(_ answer: String, limit: Int = 1000) -> Result<FetchedDocument, FetchError> {
        let server = RawServer { $0.say(answer) }
        defer { server.stop() }
        return fetch(server, limit: limit)
    }

    private func fetch(
        _ server: RawServer, limit: Int = 1000, total: Duration = .seconds(2)
    ) -> Result<FetchedDocument, FetchError> {
        let request = FetchRequest(
            url: server.url, connectTime: .milliseconds(500), totalTime: total, maxBytes: limit, allowHTTP: true)
        do throws(FetchError) { return .success(try HTTPFetcher().fetch(request)) } catch { return .failure(error) }
    }

    @Test func `A document has the body and its max-age`() throws {
        let fields = "Content-Type: application/json; charset=utf-8\r\nCache-Control: public, max-age=\"900\"\r\n"
        let document = try fetch(Self.ok("{}", fields)).get()
        #expect(document.body == Array("{}".utf8))
        #expect(document.maxAge == 900)
    }

    @Test func `Lines of one field are one list`() throws {
        let lines = "Cache-Control: public\r\nCache-Control: no-transform, max-age=900\r\n"
        #expect(try fetch(Self.ok("{}", lines)).get().maxAge == 900)
    }

    @Test(arguments: [(429, "30", 30), (503, "0", 0), (503, "soon", nil), (500, "30", nil)] as [(Int, String, Int?)])
    func `A busy server says when to ask again (V-99)`(status: Int, field: String, seconds: Int?) {
        let result = fetch("HTTP/1.1 \(status) X\r\nRetry-After: \(field)\r\nContent-Length: 0\r\n\r\n")
        #expect(result == .failure(seconds.map { .busy(status: status, retryAfter: $0) } ?? .status(status)))
    }

    @Test func `The request asks for identity, carries no cookie and no credentials`() throws {
        let server = RawServer { $0.say(Self.ok("{}", "Set-Cookie: a=b\r\n")) }
        defer { server.stop() }
        _ = try fetch(server).get()
        _ = try fetch(server).get()
        let lines = server.lastRequest.split(separator: "\r\n").map { $0.lowercased() }
        #expect(lines.first == "get /document http/1.1")
        #expect(lines.contains("accept-encoding: identity"))
        #expect(!lines.contains { $0.hasPrefix("cookie") || $0.hasPrefix("authorization") })
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `Redirects are refused, not followed (V-75)`(status: Int) {
        let target = RawServer { $0.say(Self.ok("{}")) }
        defer { target.stop() }
        let answer = "HTTP/1.1 \(status) X\r\nLocation: \(target.url)\r\nContent-Length: 0\r\n\r\n"
        #expect(fetch(answer) == .failure(.redirected(status: status)))
        #expect(target.requests == 0)
    }

    @Test(arguments: [201, 204, 400, 404, 410, 500, 503])
    func `Any other status than 200 is an error`(status: Int) {
        let rest = status == 204 ? "\r\n" : "Content-Length: 2\r\n\r\n{}"
        #expect(fetch("HTTP/1.1 \(status) X\r\n\(rest)") == .failure(.status(status)))
    }

    @Test(arguments: [200, 302, 401, 503])
    func `A request has its method, fields and content, and any status is an answer`(status: Int) throws {
        let body = String(repeating: "x", count: 2000)
        let server = RawServer { $0.say("HTTP/1.1 \(status) X\r\nLocation: /\r\nContent-Length: 2000\r\n\r\n\(body)") }
        defer { server.stop() }
        var request = FetchRequest(url: server.url, maxBytes: 1000, allowHTTP: true)
        request.fields = ["Authorization: Bearer x"]
        #expect(try HTTPFetcher().exchange(request).status == status)
        #expect(server.lastRequest.hasPrefix("GET ") && server.lastRequest.contains("\r\nAuthorization: Bearer x\r\n"))
        (request.method, request.content) = ("PUT", "{}")
        #expect(try HTTPFetcher().exchange(request).status == status)
        #expect(server.lastRequest.hasPrefix("PUT ") && server.lastRequest.contains("Content-Length: 2\r\n"))
        (request.method, request.content) = ("HEAD", nil)
        #expect(try HTTPFetcher().exchange(request).status == status)
        server.stop()
        #expect(throws: FetchError.self) { try HTTPFetcher().exchange(request) }
    }

    @Test(arguments: [200, 503])
    func `A server of this package answers in plain text, with any status`(status: Int) throws {
        let server = RawServer { $0.say("HTTP/1.1 \(status) X\r\nContent-Length: 6\r\n\r\nalive\n") }
        defer { server.stop() }
        let reply = try HTTPFetcher.askOwnServer(server.url)
        #expect(reply.status == status && reply.text == "alive")
        #expect(server.lastRequest.contains("\r\nAccept: text/plain\r\n"), "\(server.lastRequest)")
        server.stop()
        #expect(throws: FetchError.self) { try HTTPFetcher.askOwnServer(server.url) }
    }

    @Test func `A body may reach the limit but not exceed it, announced or not`() throws {
        let full = String(repeating: "x", count: 1000)
        #expect(try fetch(Self.ok(full)).get().body.count == 1000)
        #expect(fetch(Self.ok(full + "x")) == .failure(.tooLong(limit: 1000)))
        let unannounced = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        #expect(try fetch(unannounced + full).get().body.count == 1000)
        #expect(fetch(unannounced + full + "x") == .failure(.tooLong(limit: 1000)))
    }

    @Test func `A Content-Encoding is refused, except identity`() throws {
        #expect(fetch(Self.ok("{}", "Content-Encoding: gzip\r\n")) == .failure(.encoded("gzip")))
        #expect(try fetch(Self.ok("{}", "Content-Encoding: identity\r\n")).get().body.count == 2)
        let both = "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"
        #expect(fetch(Self.ok("{}", both)) == .failure(.encoded("identity, gzip")))
    }

    @Test(arguments: ["short", "none", "noise"])
    func `A body that breaks off and an answer that is not HTTP are broken`(kind: String) {
        let answers = [
            "short": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "none": "", "noise": "SSH-2.0-OpenSSH\r\n",
        ]
        #expect(fetch(answers[kind] ?? "").failure?.name == "brokenAnswer")
    }

    @Test func `A transfer from a slow peer ends at the total deadline (V-86)`() {
        let body = String(repeating: "x", count: 3000)
        let server = RawServer { $0.drip(Self.ok(body), everyMilliseconds: 20) }
        defer { server.stop() }
        let start = ContinuousClock.now
        let result = fetch(server, total: .milliseconds(400))
        let elapsed = start.duration(to: .now)
        #expect(result.failure?.name == "timedOut")
        // All of it would take a minute.
        #expect(elapsed >= .milliseconds(390) && elapsed < .seconds(30))
    }

    @Test func `A closed port, an unknown host, plain http and a malformed address have different errors`() {
        let server = RawServer { _ in }
        server.stop()
        #expect(fetch(server).failure?.name == "couldNotConnect")
        func error(_ url: String, allowHTTP: Bool = true) -> FetchError? {
            Result { () throws(FetchError) in try HTTPFetcher().fetch(FetchRequest(url: url, allowHTTP: allowHTTP)) }
                .failure
        }
        #expect(error(server.url, allowHTTP: false) == .plainHTTPRefused)
        #expect(error("https://nowhere.invalid/") == .couldNotResolve(host: "nowhere.invalid"))
        for url in [
            "", "contoso.com", "file:///etc/passwd", "ftp://localhost/", "https://u:p@localhost/", "http://a b/",
        ] {
            #expect(error(url)?.name == "badAddress", "\(url)")
        }
    }

    @Test func `A call of cancel() ends a running fetch at once, and all later ones (V-91)`() {
        let server = RawServer { $0.waitForEnd() }
        defer { server.stop() }
        let fetcher = HTTPFetcher()
        let start = ContinuousClock.now
        _ = try? NamedThread.start("cancel") {
            eventuallyBlocking("the server has a request") { server.requests > 0 }
            fetcher.cancel()
        }
        let request = FetchRequest(url: server.url, totalTime: .seconds(120), allowHTTP: true)
        #expect(throws: FetchError.cancelled) { try fetcher.fetch(request) }
        #expect(start.duration(to: .now) < .seconds(60))
        #expect(throws: FetchError.cancelled) { try fetcher.fetch(request) }
        #expect(server.requests == 1)
    }
}

@Suite("Addresses are those of libcurl")
struct ParsingTests {
    @Test(arguments: [
        "HTTPS://Contoso.B2CLogin.com/a/b?p=x", "http://localhost:1/", "http://127.0.0.1/", "http://127.9.9.9/",
        "http://[::1]:80/", "http://127.0.0.1.example/", "http://a/?x@b", "http://a/..//b",
    ])
    func `The host of an address is the same for WebAddress and for libcurl`(text: String) throws {
        let address = try #require(WebAddress(text))
        #expect(fetchedHost(of: text) == address.host)
    }

    @Test(arguments: [
        "", "/path", "x", "http://", "http://a@b/", "https://a/#f", "gopher://a/", "http://a/\0", "http://é/",
        "http://127.1/", "http://0x7f.0.0.1/",
    ])
    func `What is no plain http address is not fetched`(text: String) {
        let error = FetchError.badAddress("not an http or https address")
        #expect(throws: error) { try HTTPFetcher().fetch(FetchRequest(url: text, allowHTTP: true)) }
    }
}

extension Result where Failure == FetchError {
    var failure: FetchError? { if case .failure(let error) = self { error } else { nil } }
}

extension FetchError {
    /// The name of the case, without its values.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}
