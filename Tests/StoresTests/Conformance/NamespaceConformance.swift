import Tasks
import Testing

@Suite("Every store finds the namespaces of its owners", .timeLimit(.minutes(15)))
struct NamespaceConformance {
    private func guid(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "\(digits)\(String(repeating: "0", count: 8 - digits.count))-0000-4000-8000-000000000000"
    }

    @Test("The name before the first colon is a namespace where it can be that of a source (P-14)")
    func names() {
        for (owner, name) in [
            ("ext:\(guid(1))", "ext"), ("a-1:b:c", "a-1"), ("0123456789abcdef:x", "0123456789abcdef"),
            (guid(1), nil), ("", nil), (":x", nil), ("Ext:x", nil), ("0123456789abcdefg:x", nil), ("a b:x", nil),
            ("\u{E9}xt:x", nil),
        ] as [(String, String?)] {
            #expect(Owner(owner).namespace == name, "\(owner)")
        }
    }

    @Test(
        "Each namespace of an owner with tasks is found, also among owners without one (P-17)",
        arguments: StoreUnderTest.all)
    func found(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            #expect(try await store.ownerNamespaces() == OwnerNamespaces([]))
            _ = try await store.added("x", of: Owner("ext:\(guid(1))"))
            _ = try await store.added("x", of: Owner("ext:\(guid(2))"))
            // One name begins as another.
            _ = try await store.added("x", of: Owner("ext-2:\(guid(2))"))
            #expect(try await store.ownerNamespaces() == OwnerNamespaces([Owner("ext:x"), Owner("ext-2:x")]))
            for number in 1...50 { _ = try await store.added("x", of: Owner(guid(number * 5))) }
            for name in ["0", "b2c", "face", "zz"] { _ = try await store.added("x", of: Owner("\(name):\(guid(3))")) }
            let all = try await store.ownerNamespaces()
            #expect(all.names == ["0", "b2c", "ext", "ext-2", "face", "zz"])
            #expect(all.hasBare)
        }
    }

    @Test("Who has no tasks any more has no namespace either (P-17)", arguments: StoreUnderTest.all)
    func withoutTasks(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for owner in ["a:1", "a:2", "b:1", guid(1)] { _ = try await store.added("x", of: Owner(owner)) }
            for owner in ["a:1", "b:1", guid(1)] { #expect(try await store.remove(1, of: Owner(owner))) }
            let left = try await store.ownerNamespaces()
            #expect((left.names, left.hasBare) == (["a"], false))
            #expect(try await store.remove(1, of: Owner("a:2")))
            #expect(try await store.ownerNamespaces() == OwnerNamespaces([]))
        }
    }

    @Test("Owners whose text has a colon but no name before it have no namespace", arguments: StoreUnderTest.all)
    func otherColons(kind: StoreUnderTest) async throws {
        try await kind.with { store in
            for owner in ["Urn:x", ":y", "a b:z", "a b:zz"] { _ = try await store.added("x", of: Owner(owner)) }
            let found = try await store.ownerNamespaces()
            #expect((found.names, found.hasBare) == ([], true))
        }
    }
}
