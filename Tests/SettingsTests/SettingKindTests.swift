import Settings
import Testing

@Suite("Values of settings") struct SettingKindTests {
    @Test(arguments: [
        ("127.0.0.1:3000", "127.0.0.1:3000"), ("0.0.0.0:0", "0.0.0.0:0"), ("[::1]:80", "[::1]:80"),
        ("localhost:1", "127.0.0.1:1"), ("[::ffff:1.2.3.4]:5", "[::ffff:1.2.3.4]:5"),
    ])
    func `read an address and a port`(text: String, description: String) {
        #expect(ListenAddress(text)?.description == description)
    }

    @Test(arguments: [
        "", "3000", ":3000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "256.0.0.1:1", "::1:80",
        "[::1]", "[1]:2", "example.com:80", "127.0.0.1:3000 ",
    ])
    func `refuse what is no address and port`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        ("0.0.0.0:3000", "127.0.0.1:3000"), ("[::]:3000", "[::1]:3000"), ("10.1.2.3:80", "10.1.2.3:80"),
    ])
    func `tell how this machine reaches an address that is listened on`(listened: String, reached: String) {
        #expect(ListenAddress(listened)?.seenFromHere.description == reached)
    }

    @Test func `read a URL and know its host`() throws {
        let url = try #require(WebAddress("HTTPS://Contoso.b2clogin.com:8443/contoso.onmicrosoft.com/"))
        #expect(url.isSecure && url.host == "contoso.b2clogin.com" && url.port == 8443)
        #expect(url.text == "HTTPS://Contoso.b2clogin.com:8443/contoso.onmicrosoft.com")
        #expect(!url.isLoopback)
    }

    @Test(arguments: ["http://127.0.0.1:3001/x", "http://localhost", "http://[::1]:3001/x", "http://127.9.9.9"])
    func `know the URLs of this machine`(text: String) {
        #expect(WebAddress(text)?.isLoopback == true)
    }

    @Test(arguments: ["http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1"])
    func `are not fooled by names that begin like this machine`(text: String) {
        #expect(WebAddress(text)?.isLoopback == false)
    }

    @Test(arguments: [
        "", "contoso.com", "ftp://contoso.com", "https://", "https:///x", "https://a b", "https://user@host/",
        "https://host/#x", "https://host:x/", "https://[::1", "https://h\u{F6}st/",
    ])
    func `refuse what is no URL`(text: String) {
        #expect(WebAddress(text) == nil)
    }
}
