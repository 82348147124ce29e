import HTTP
import Testing

@Suite("The value of Host is a host and perhaps a port (RFC 9110 section 7.2)")
struct HostFieldTests {
    @Test(arguments: [
        "h", "localhost:3000", "tasks.example.com", "tasks.example.com:", "h:0", "h:65535", "h:00080", "a_b.c~d",
        "a%20b", "a!$&'()*+,;=b", "127.0.0.1", "127.0.0.1:80", "999.1.1.1", "[::]", "[::1]", "[::1]:3000", "[::1]:",
        "[1:2:3:4:5:6:7:8]", "[1::8]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[::ffff:192.0.2.1]",
        "[1:2:3:4:5:6:192.0.2.1]", "[ABCD::ef01]",
    ])
    func `Valid values are accepted`(value: String) { #expect(value.isHostField) }

    @Test(arguments: [
        "", ":", ":80", "a:x", "a:65536", "a:99999999999999999999999", "a:8 0", "a:-1", "a:80:90", "a:b:80", "a b",
        "a/b", "a?b", "a#b", "a@b", "user@h:80", "a\"b", "a<b", "a\\b", "a^b", "ä", "a%", "a%2", "a%zz", "[", "]",
        "[]",
        "[::1", "::1", "::1]", "[::1]x", "[::1]80", "[::1]:x", "[::1]]", "[[::1]]", "[:::1]", "[1::2::3]",
        "[1:2:3]",
        "[:1]", "[1:]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[12345::]", "[g::]", "[::1%25eth0]",
        "[::256.0.0.1]", "[::1.2.3]", "[::01.2.3.4]", "[1.2.3.4::]", "[1:2:3:4:5:6:7:1.2.3.4]", "[v.a]", "[v1.]",
        "[v1.a:b]", "[vF.~]", "[v1]", "[v1.a/b]", "[127.0.0.1]", "a[b]",
    ])
    func `Malformed values are refused`(value: String) { #expect(!value.isHostField) }

    @Test func `Only names and addresses of this machine are loopback`() {
        for value in ["localhost", "LocalHost:3000", "127.0.0.1", "127.9.8.7:80", "[::1]", "[::1]:80"] {
            #expect(value.isLoopbackHost, "\(value)")
        }
        for value in [
            "", "h", "localhost.example.com", "127.0.0.1.example.com", "127.0.0", "127.0.0.256", "1270.0.0.1", "[::2]",
            "[::1].example.com", "localhost:x", "128.0.0.1",
        ] {
            #expect(!value.isLoopbackHost, "\(value)")
        }
    }
}
