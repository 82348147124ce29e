import Tasks
import Testing

@Suite("An owner is compared byte by byte and may have a namespace")
struct OwnerTests {
    @Test func `The name before the first colon is a namespace if it can be the name of a source (P-14)`() {
        let identifier = "00000001-0000-4000-8000-000000000000"
        for (owner, name) in [
            ("ext:\(identifier)", "ext"), ("a-1:b:c", "a-1"), ("0123456789abcdef:x", "0123456789abcdef"),
            (identifier, nil), ("", nil), (":x", nil), ("Ext:x", nil), ("0123456789abcdefg:x", nil), ("a b:x", nil),
            ("\u{E9}xt:x", nil),
        ] as [(String, String?)] {
            #expect(Owner(owner).namespace == name, "\(owner)")
        }
    }
}
