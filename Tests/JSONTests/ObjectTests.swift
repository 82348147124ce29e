import JSON
import Testing

@Suite("JSON objects keep their order and unique names")
struct ObjectTests {
    @Test func `Of two values for one name the first is kept`() {
        let object = JSONObject([("a", 1), ("b", 2), ("a", 3)])
        #expect(object.members.map(\.name) == ["a", "b"])
        #expect(object["a"] == 1)
    }

    @Test func `Members are set, replaced and removed`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["c"] = 3
        object["a"] = "x"
        object["b"] = nil
        object["missing"] = nil
        #expect(object == ["a": "x", "c": 3])
        #expect(object.contains("c"))
        #expect(!object.contains("b"))
    }

    @Test func `A null member is not a missing one`() {
        let object: JSONObject = ["a": .null]
        #expect(object.contains("a"))
        #expect(object["a"] == .null)
    }

    @Test func `A value is read only as its own kind`() {
        let values: [JSONValue] = [.null, true, 1, .real(1), "s", [1], ["a": 1]]
        #expect(values.compactMap(\.boolean) == [true])
        #expect(values.compactMap(\.integer) == [1])
        #expect(values.compactMap(\.string) == ["s"])
        #expect(values.compactMap(\.array) == [[1]])
        #expect(values.compactMap(\.object) == [["a": 1]])
    }
}
