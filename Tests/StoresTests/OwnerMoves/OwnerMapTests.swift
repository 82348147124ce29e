@testable import OwnerMoves
import Platform
import Tasks
import Testing

@Suite("A map of owners")
struct OwnerMapTests {
    private static let guid = "11111111-AAAA-4111-8111-111111111111"
    private static let folded = "11111111-aaaa-4111-8111-111111111111"

    private func read(_ lines: [[UInt8]], merging: Bool = false) throws -> [String] {
        try OwnerMap.read(lines, merging: merging).pairs.map { "\($0.old.identifier) -> \($0.new.identifier)" }
    }

    private func read(_ lines: [String], merging: Bool = false) throws -> [String] {
        try read(lines.map { Array($0.utf8) }, merging: merging)
    }

    private func mistakes(_ lines: [String], merging: Bool = false) -> [String] {
        do {
            _ = try read(lines, merging: merging)
            return []
        } catch let error as OwnerMap.Mistakes {
            let faults = error.lines
            #expect(faults.count == faults.first.count)
            return faults.first
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `A table is read, with an empty line and a head or without`() throws {
        let expected = ["a -> b", "c \"d\",e -> f"]
        for lines in [
            ["a,b", "\"c \"\"d\"\",e\",f"], ["old,new", "a,b", "", #""c ""d"",e","f""#],
            ["Old,NEW", "a,b", #""c ""d"",e",f"#],
            ["a,b", " ", #""c ""d"",e",f"#],
        ] {
            #expect(try read(lines) == expected, "\(lines)")
        }
        #expect(try read([String]()) == [])
        #expect(try read(["old,new"]) == [])
    }

    @Test(
        "GUIDs are folded as servers fold them, alone, after a namespace and in pairs; all else is taken as it is (V-57, P-14, P-16)"
    )
    func folding() throws {
        let (guid, folded) = (Self.guid, Self.folded)
        for (text, owner) in [
            (guid, folded), ("ext:\(guid)", "ext:\(folded)"), ("work:\(guid)+\(guid)", "work:\(folded)+\(folded)"),
            ("\(guid)+\(guid)", "\(folded)+\(folded)"), ("EXT:\(guid)", "EXT:\(guid)"), ("ABC", "ABC"),
            ("ext:ABC", "ext:ABC"), ("\(guid)+x", "\(guid)+x"),
            ("caf\u{E9}", "caf\u{E9}"), ("cafe\u{301}", "cafe\u{301}"),
        ] {
            #expect(try read(["\(text),z"]).map { Array($0.utf8) } == [Array("\(owner) -> z".utf8)], "\(text)")
        }
    }

    @Test(arguments: [
        "x", "x,y,z", ",y", "x,", "x, y", "x,y ", "\"x,y", "\"x\"z,y", "x,x", "x\t,y", "x\u{7F},y",
        "\(guid),\(folded)", "\(String(repeating: "x", count: 274)),y", "x,\(String(repeating: "y", count: 5000))",
    ])
    func `A malformed line is reported with its number`(line: String) throws {
        let found = mistakes(["a,b", line, "c,d", line])
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("line 2: ") == true && found.last?.hasPrefix("line 4: ") == true, "\(found)")
    }

    @Test func `Lines of JSON are no map, and no value is repeated`() {
        for line in [#"{"old":"secret","new":"b"}"#, #"["secret","b"]"#, "{", #"{"old":"secret"}"#] {
            let found = mistakes(["a,b", line])
            #expect(found.count == 1 && found[0].hasPrefix("line 2: ") && !found[0].contains("secret"), "\(found)")
        }
    }

    @Test func `Bytes that are no UTF-8 are reported`() {
        #expect(throws: OwnerMap.Mistakes.self) { try read([Array("a,".utf8) + [0xFF]]) }
        #expect(throws: OwnerMap.Mistakes.self) { try read([[0xC3, UInt8(ascii: ","), UInt8(ascii: "b")]]) }
    }

    @Test func `Contradictions are found before anything is moved, with the numbers of both lines`() {
        #expect(mistakes(["a,b", "c,d", "a,e"]) == ["line 3: the old owner of line 1 again"])
        #expect(mistakes(["a,b", "a,b"]).first == "line 2: the old owner of line 1 again")
        let guid = Self.guid
        #expect(mistakes(["\(guid),b", "\(Self.folded),c"]) == ["line 2: the old owner of line 1 again"])
        let chain = "its new owner is the old owner of line"
        #expect(mistakes(["b,c", "a,b"]) == ["line 2: \(chain) 1: no one can be moved on in the same map"])
        let swap = mistakes(["a,b", "b,a"])
        #expect(
            swap.map { $0.prefix(8) } == ["line 1: ", "line 2: "] && swap.allSatisfy { $0.contains(chain) }, "\(swap)")
        #expect(
            mistakes(["a,z", "b,y", "c,z"]) == [
                "line 3: the new owner of line 1 again: their lists are put together only with --merge"
            ])
        #expect(mistakes(["a,z", "b,y", "c,z"], merging: true) == [])
        #expect(mistakes(["b,c", "a,b"], merging: true).count == 1)
        #expect(mistakes(["a,b", "x", "a,c", "b,d"]).count == 3)
    }

    @Test func `Of many mistakes the first are kept, and all are counted`() throws {
        #expect {
            try read((1...1000).map { "\($0)" })
        } throws: { error in
            guard let faults = (error as? OwnerMap.Mistakes)?.lines else { return false }
            return faults.count == 1000 && faults.first.count == 50 && faults.first[49].hasPrefix("line 50: ")
        }
    }
}

extension OwnerMap {
    /// A map of these lines.
    static func read(_ lines: [[UInt8]], merging: Bool = false) throws -> OwnerMap {
        var rest = lines[...]
        return try OwnerMap.read({ () throws(SystemError) in rest.popFirst() }, merging: merging)
    }

    /// All pairs in their order.
    var pairs: [OwnerPair] { entries.map(\.pair) }

    /// A map of pairs.
    static func of(_ pairs: [(Owner, Owner)], merging: Bool = false) throws -> OwnerMap {
        try read(pairs.map { Array("\($0.0.identifier),\($0.1.identifier)".utf8) }, merging: merging)
    }
}
