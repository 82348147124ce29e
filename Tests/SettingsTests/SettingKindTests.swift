@testable import Settings
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
        "[::1]", "[1]:2", "[1:2:3]:4", "127.0.0.01:1", "example.com:80", "127.0.0.1:3000 ",
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

    @Test(arguments: ["https://host/#x", "ftp://contoso.com"])
    func `refuse what is no URL without a fragment`(text: String) {
        #expect(SettingKind.webAddress(example: "https://example.com").parse(text) == nil)
    }
}
