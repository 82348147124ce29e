@testable import Settings
import Testing

@Suite("Values of settings are parsed")
struct SettingKindTests {
    @Test(arguments: [
        ("127.0.0.1:3000", "127.0.0.1:3000"), ("0.0.0.0:0", "0.0.0.0:0"), ("[::1]:80", "[::1]:80"),
        ("localhost:1", "127.0.0.1:1"), ("[::ffff:1.2.3.4]:5", "[::ffff:1.2.3.4]:5"),
    ])
    func `An address and a port are read`(text: String, description: String) {
        #expect(ListenAddress(text)?.description == description)
    }

    @Test(arguments: [
        "", "3000", ":3000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "256.0.0.1:1", "::1:80",
        "[::1]", "[1]:2", "[1:2:3]:4", "127.0.0.01:1", "example.com:80", "127.0.0.1:3000 ",
    ])
    func `Other texts are no address and port`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        ("0.0.0.0:3000", "127.0.0.1:3000"), ("[::]:3000", "127.0.0.1:3000"), ("10.1.2.3:80", "10.1.2.3:80"),
    ])
    func `An unspecified address is reached by the loopback`(listened: String, reached: String) {
        #expect(ListenAddress(listened)?.seenFromHere.description == reached)
    }

    @Test(
        "Addresses exclude each other if one server at most can listen there",
        arguments: [
            ("127.0.0.1:1", "127.0.0.1:1", true), ("0.0.0.0:1", "127.0.0.1:1", true), ("[::]:1", "[::1]:1", true),
            ("[::1]:1", "[0:0:0:0:0:0:0:1]:1", true), ("127.0.0.1:1", "127.0.0.2:1", false),
            ("0.0.0.0:1", "127.0.0.1:2", false), ("0.0.0.0:1", "[::]:1", false),
        ])
    func excludes(_ one: String, _ other: String, _ isExpected: Bool) throws {
        let (one, other) = (try #require(ListenAddress(one)), try #require(ListenAddress(other)))
        #expect(one.excludes(other) == isExpected && other.excludes(one) == isExpected)
    }

    @Test(arguments: ["", "580e250c ", " 580e250c", "580e250c # ours", "580e250c\t"])
    func `A name or an id has no white space, as a remark behind it would bring`(text: String) {
        #expect(SettingKind.word("ID", expected: "an id", example: "x").parse(text) == nil)
    }

    @Test(arguments: ["https://host/#x", "ftp://contoso.com"])
    func `A URL setting has no fragment and no other scheme`(text: String) {
        #expect(SettingKind.webAddress(example: "https://example.com").parse(text) == nil)
    }
}
