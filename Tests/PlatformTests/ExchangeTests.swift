import Glibc
import Platform
import Testing

@Suite("A program asks a server on its own machine", .timeLimit(.minutes(15)))
struct ExchangeTests {
    @Test(arguments: [("HTTP/1.1 200 OK\r\nX: y\r\n\r\nalive\n", 200, "alive"), ("HTTP/1.0 503 No\r\n\r\n", 503, "")])
    func `An answer has a status and a body`(_ text: String, _ status: Int, _ body: String) {
        let reply = PlainReply(Array(text.utf8))
        #expect(reply.status == status)
        #expect(reply.body == body)
    }

    @Test(arguments: ["", "SSH-2.0-OpenSSH 200 OK\r\n\r\n", "HTTP/1.1 two hundred\r\n\r\n"])
    func `An answer of something else has no status`(_ text: String) {
        #expect(PlainReply(Array(text.utf8)).status == 0)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1"])
    func `An error names the address that could not be reached`(_ host: String) {
        // Nothing listens on port 1; a machine without IPv6 says so instead.
        let error = #expect(throws: SystemError.self) { try PlainReply.get("/", host: host, port: 1) }
        #expect([ECONNREFUSED, EADDRNOTAVAIL, EAFNOSUPPORT].contains(error?.code ?? 0))
        #expect(error?.operation == "connect to \(host == "::1" ? "[::1]" : host):1")
    }

    @Test func `A host that is no address is refused`() {
        let error = #expect(throws: SystemError.self) { try PlainReply.get("/", host: "example", port: 1) }
        #expect(error?.code == EINVAL)
    }
}
