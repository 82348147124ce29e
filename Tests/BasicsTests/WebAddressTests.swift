import Basics
import Testing

@Suite("A URL is taken apart by RFC 3986")
struct WebAddressTests {
    @Test func `Hosts are in lower case, ports have the default of the scheme, a slash at the end is dropped`() throws {
        let url = try #require(WebAddress("HTTPS://Contoso.b2clogin.com:8443/contoso.onmicrosoft.com/"))
        #expect(url.isEncrypted && url.host == "contoso.b2clogin.com" && url.port == 8443)
        #expect(url.text == "HTTPS://Contoso.b2clogin.com:8443/contoso.onmicrosoft.com")
        #expect(!url.isLoopback && !url.hasFragment)
        let other = try #require(WebAddress("http://a/b//c?p=x&q=/#f"))
        #expect(!other.isEncrypted && other.port == 80 && other.path == ["b", "", "c"])
        #expect(other.query == "p=x&q=/" && other.hasFragment)
    }

    @Test(arguments: [
        "http://127.0.0.1:3001/x", "http://localhost", "http://LOCALHOST:1/", "http://[::1]:3001/x",
        "http://127.9.9.9", "http://[0:0:0:0:0:0:0:1]/",
    ])
    func `Addresses of this machine are recognized`(text: String) {
        #expect(WebAddress(text)?.isLoopback == true)
    }

    @Test(arguments: [
        "http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1", "http://128.0.0.1/",
        "http://[::2]/", "http://127.0.0.01/", "http://127.1/",
    ])
    func `Names that begin like this machine are not this machine`(text: String) {
        #expect(WebAddress(text)?.isLoopback == false)
    }

    @Test(arguments: [
        "", "x", "/path", "contoso.com", "ftp://contoso.com", "https://", "http://", "https:///x", "https://a b",
        "https://user@host/", "https://trusted.example@evil.example/", "https://host:x/", "https://host:+1/",
        "https://host:/", "https://[::1", "https://[::1]x/", "https://[1]/", "https://[1:2:3]/",
        "https://h\u{F6}st/", "https://host/\\@evil.example/", "http://a/\0", "http://%61/",
    ])
    func `Texts that are no plain web address are refused`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func `An origin is scheme, host and port; localhost and the loopback addresses are one host`() throws {
        let address = try #require(WebAddress("https://contoso.b2clogin.com/a"))
        #expect(address.isSameOrigin(as: try #require(WebAddress("HTTPS://CONTOSO.b2clogin.com:443/"))))
        for other in ["http://contoso.b2clogin.com/a", "https://contoso.b2clogin.com:444/", "https://b2clogin.com/"] {
            #expect(!address.isSameOrigin(as: try #require(WebAddress(other))))
        }
        let local = try #require(WebAddress("http://127.0.0.1:3001/"))
        #expect(local.isSameHost(as: try #require(WebAddress("https://localhost:3444/"))))
        #expect(!local.isSameHost(as: address))
    }
}
