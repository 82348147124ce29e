import Support
import Tasks
import Testing

@Suite("Entity tags identify states")
struct EntityTagTests {
    @Test func `The tag of a task is id and revision, in quotes`() throws {
        let item = TaskItem(
            id: 7, owner: Owner("o"), text: try TaskText("x"), created: 0, modified: 0, revision: 12)
        #expect(item.entityTag == #""7.12""#)
        #expect(TaskItem.revisions(ifMatch: item.entityTag, of: 7) == [12])
    }

    @Test(
        arguments: [
            (#""7.1", "7.3""#, [1, 3]), (#""7.1","8.2""#, [1]), (#"W/"7.1""#, [1]), (#""7.01""#, []), (#""7.-1""#, []),
            (#""7.+1""#, []), (#""7.0""#, []), (#""7.""#, []), ("7.1", []), ("", []), (#""7.9999999999999999999""#, []),
            ("\t\"7.4\" ", [4]), (#""17.1""#, []), (#""7.5-gzip""#, [5]), (#""7.-gzip""#, []),
            (#"W/"7.5-gzip""#, [5]), (#""7.5-br", "7.6-zstd""#, [5, 6]), (#""7.5--gzip""#, [5]), (#""7.5;gzip""#, [5]),
            (#""7.5"-zstd"#, [5]), (#"W/"7.5"-gzip"#, [5]), (#""7.5x""#, []), (#""7.5"#, []), (#""7.5-br"#, []),
            (#""7.5"1""#, []), (#"W/"17.5-gzip""#, []), (#""7.-br""#, []), (#"W/7.5"#, []), (#"W/*"#, []),
        ] as [(String, Set<Int64>)])
    func `If-Match gives the revisions that it names`(field: String, revisions: Set<Int64>) {
        #expect(TaskItem.revisions(ifMatch: field, of: 7) == revisions)
    }

    @Test func `A star asks for no revision`() {
        #expect(TaskItem.revisions(ifMatch: "*", of: 7) == nil)
        #expect(TaskItem.revisions(ifMatch: #""7.1", *"#, of: 7) == nil)
    }

    @Test func `The tag of a list is the same on every machine, and another for every change of a byte`() throws {
        #expect(TaskList(rendering: []).entityTag == Self.tagOfEmptyList)
        var tags: Set<String> = []
        for length in 1...40 {
            for last in ["a", "b"] {
                let text = try TaskText(String(repeating: "a", count: length) + last)
                let item = TaskItem(id: 1, owner: Owner("o"), text: text, created: 0, modified: 0)
                tags.insert(TaskList(rendering: [item]).entityTag)
            }
        }
        // "aa" as 1 + "a" and so on differ by length, the last byte distinguishes the pairs.
        #expect(tags.count == 80)
        #expect(tags.allSatisfy { $0.utf8.count == 18 && $0.first == "\"" && $0.last == "\"" })
    }

    @Test(
        "The tag of a list is that of the definition, with 7, 1, 3 and 5 bytes after the last eight",
        arguments: [
            ("Buy milk", "42ad68fd5958f808"), ("Buy milk!", "ee5f7e61780a66f6"), ("Buy milk!!", "6b0b7ec027342a1f"),
            ("Buy milk!!!", "2e1a360500bfcd04"),
        ])
    func ofListAsDefined(text: String, tag: String) throws {
        let item = TaskItem(id: 1, owner: Owner("o"), text: try TaskText(text), created: 0, modified: 0, revision: 12)
        #expect(TaskList(rendering: [item]).entityTag == "\"\(tag)\"")
    }

    /// Computed by another program from the definition.
    private static let tagOfEmptyList = "\"697153f44013a0df\""
}
