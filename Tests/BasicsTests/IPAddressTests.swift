import Basics
import HTTP
import Support
import Testing

@Suite("IP addresses and ranges are read and compared")
struct IPAddressTests {
    @Test func `Different texts of one address are equal`() {
        #expect(IPAddress("192.0.2.1") == IPAddress(version4: 0xC000_0201))
        #expect(IPAddress("::ffff:192.0.2.1") == IPAddress("192.0.2.1"))
        #expect(IPAddress("2001:db8::1") == IPAddress("2001:DB8:0:0:0:0:0:1"))
        #expect(IPAddress("::")?.bits == 0 && IPAddress("::1")?.isLoopback == true)
        #expect(IPAddress("1::")?.bits == UInt128(1) << 112)
        #expect(IPAddress("127.9.9.9")?.isLoopback == true && IPAddress("128.0.0.1")?.isLoopback == false)
        #expect(IPAddress("2001:db8::1")?.network == IPAddress("2001:db8::ffff:1")?.network)
        #expect(IPAddress("2001:db8::1")?.network != IPAddress("2001:db8:0:1::1")?.network)
        #expect(IPAddress("192.0.2.1")?.network != IPAddress("192.0.2.2")?.network)
    }

    @Test(arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1", "::", "::1"])
    func `An address is written as it is read`(text: String) {
        #expect(IPAddress(text)?.text == text)
    }

    @Test func `An IPv4 address in IPv6 form is written as one of IPv4`() {
        #expect(IPAddress("::ffff:192.0.2.1")?.text == "192.0.2.1")
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.+4", "1.2.3.4 ", ":", ":::", "1:2", "::1::",
        "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "12345::", "00001::", "1.2.3.4\0", "::1\0", "::g", "::1.2.3",
        "::+1", "fe80::1%eth0", "[::1]",
        "é",
        "1.2.3.4::",
    ])
    func `Other texts are no addresses`(text: String) { #expect(IPAddress(text) == nil) }

    @Test func `Ranges have a length and no bit after it`() throws {
        let ten = try #require(IPAddressRange("10.0.0.0/8"))
        #expect(try ten.contains(#require(IPAddress("10.255.0.1"))) && !ten.contains(#require(IPAddress("11.0.0.1"))))
        let all = try #require(IPAddressRange("0.0.0.0/0"))
        #expect(try all.contains(#require(IPAddress("11.0.0.1"))) && !all.contains(#require(IPAddress("2001::"))))
        let one = try #require(IPAddressRange("2001:db8::1"))
        #expect(
            try one.contains(#require(IPAddress("2001:db8::1"))) && !one.contains(#require(IPAddress("2001:db8::2"))))
        #expect(try #require(IPAddressRange("::/0")).contains(#require(IPAddress("10.0.0.1"))))
        for text in [
            "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "0.0.0.0/-0", "10.0.0.0/+8", "10.0.0.0/", "/8", "x", "::/129",
            "::/99999999999999999999",
        ] {
            #expect(IPAddressRange(text) == nil, "\(text)")
        }
    }
}

@Suite("The client of a trusted proxy is found")
struct ForwardedClientTests {
    private static let proxies = ["10.0.0.0/8", "fd00::/8"].compactMap { IPAddressRange($0) }

    private func client(_ fields: [(String, String)]) -> String {
        let headers = HeaderSection(fields.map { HeaderSection.Field(name: $0.0, value: $0.1) })
        return switch ForwardedClient(in: headers, trusting: Self.proxies) {
        case .none: "none"
        case .unclear: "unclear"
        case .client(_, let text): text
        }
    }

    @Test func `The rightmost address that is no trusted proxy is the client`() {
        let old = "X-Forwarded-For"
        #expect(client([]) == "none")
        #expect(client([(old, "203.0.113.1")]) == "203.0.113.1")
        #expect(client([(old, "198.51.100.1, 203.0.113.1 , 10.1.1.1")]) == "203.0.113.1")
        #expect(client([(old, "198.51.100.1"), ("x-forwarded-for", "203.0.113.1")]) == "203.0.113.1")
        #expect(client([(old, "203.0.113.1:8080")]) == "203.0.113.1")
        #expect(client([(old, "2001:db8::1")]) == "2001:db8::1")
        #expect(client([(old, "[2001:db8::1]:80")]) == "2001:db8::1")
        #expect(client([("Forwarded", "for=\"[2001:db8::1]\";proto=https")]) == "2001:db8::1")
        #expect(client([("forwarded", "For=203.0.113.1;by=x, proto=http;FOR=10.0.0.1")]) == "203.0.113.1")
        #expect(client([("Forwarded", "for=203.0.113.1"), (old, "203.0.113.1")]) == "203.0.113.1")
    }

    @Test(arguments: [
        [("X-Forwarded-For", "")], [("X-Forwarded-For", "10.0.0.1")], [("X-Forwarded-For", "203.0.113.1, x")],
        [("X-Forwarded-For", "203.0.113.1,")], [("Forwarded", "for=unknown")], [("Forwarded", "for=_hidden")],
        [("Forwarded", "proto=https")], [("Forwarded", "for=\"203.0.113.1")],
        [("Forwarded", "for=198.51.100.1"), ("X-Forwarded-For", "203.0.113.1")],
    ])
    func `Fields without an address, or that differ, are not trusted`(fields: [(String, String)]) {
        #expect(client(fields) == "unclear")
    }
}
