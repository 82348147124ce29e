import Basics
import HTTP
import JSON
import Tasks

/// The body of `PATCH /api/tasks`: a JSON array of merge patches (RFC 7396), each with the `id` of another task, and
/// perhaps `ifMatch`, the entity tag that the task must have.
struct ChangeList {
    static let most = 1000

    let changes: [IdentifiedChange]

    /// Reads all changes of a request at a time, or throws for the first that cannot be used.
    init(body: [UInt8], head: RequestHead, at time: Int64) throws(APIFailure) {
        switch head.contentType?.name {
        case "application/json", "application/merge-patch+json": break
        case nil, .some: throw .input(.changesMediaType)
        }
        let elements = try Self.elements(body)
        var (changes, ids): ([IdentifiedChange], Set<Int64>) = ([], [])
        changes.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let change = try Self.numbering(index + 1) { () throws(APIFailure) in
                let change = try Self.change(element, at: time)
                guard ids.insert(change.id).inserted else { throw Self.wrong("id", "that of no other change") }
                return change
            }
            changes.append(change)
        }
        self.changes = changes
    }

    private static func elements(_ body: [UInt8]) throws(APIFailure) -> [JSONValue] {
        let value: JSONValue
        do {
            // Sixteen members in each change (V-148), more than a task has that is sent back whole.
            value = try TaskInput.json(body, values: 16 * most)
        } catch .input(.malformedJSON(let offset)) {
            throw .input(.malformedChanges(offset: offset))
        }
        guard let elements = value.array, (1...most).contains(elements.count) else {
            throw .input(.malformedChanges(offset: nil))
        }
        return elements
    }

    private static func change(_ element: JSONValue, at time: Int64) throws(APIFailure) -> IdentifiedChange {
        guard let object = element.object else { throw .input(.malformedChanges(offset: nil)) }
        let input = try TaskInput(object)
        guard case .integer(let id) = try member("id", of: object) else {
            throw wrong("id", "the id of a task, a number")
        }
        return IdentifiedChange(id: id, change: try input.change(at: time), expected: try revision(object, of: id))
    }

    /// The revision that `ifMatch` asks for; 0, which no task has, for a tag that no task of this id ever had.
    private static func revision(_ object: JSONObject, of id: Int64) throws(APIFailure) -> Int64? {
        switch try member("ifMatch", of: object) {
        case nil, .null: return nil
        case .string(let tag):
            guard let revisions = TaskItem.revisions(ifMatch: tag, of: id) else { return nil }
            guard revisions.count < 2 else { throw wrong("ifMatch", "one ETag") }
            return revisions.first ?? 0
        case .integer, .real, .boolean, .array, .object: throw wrong("ifMatch", "the ETag of the task, a text")
        }
    }

    /// The member of this name, in any case, as everywhere in bodies; given twice, it must have one value.
    private static func member(_ name: String, of object: JSONObject) throws(APIFailure) -> JSONValue? {
        let found = object.members.filter { $0.name.isEqualIgnoringCase(to: name) }
        guard found.allSatisfy({ $0.value == found[0].value }) else {
            throw wrong(name, "the same value where it is given twice; send one of the two")
        }
        return found.first?.value
    }

    private static func wrong(_ name: String, _ expected: String) -> APIFailure {
        .input(.field(name: name, expected: expected))
    }

    private static func numbering<Result>(
        _ number: Int, _ work: () throws(APIFailure) -> Result
    ) throws(APIFailure) -> Result {
        do {
            return try work()
        } catch .input(let failure) {
            throw .input(.change(number: number, failure))
        }
    }
}
