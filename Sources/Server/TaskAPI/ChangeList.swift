import Basics
import HTTP
import JSON
import Tasks

/// The body of `PATCH /api/tasks`: a JSON array of merge patches (RFC 7396), each with the `id` of another task, and
/// perhaps `ifMatch`, the entity tag that the task must have.
struct ChangeList {
    static let most = 1000

    /// The changes; those of ``undecided`` without the values whose names disagree.
    let changes: [IdentifiedChange]
    /// The changes that need the stored task, by their index.
    let undecided: [Int: GivenChange]

    /// Reads all changes, or throws for the first that cannot be used.
    init(body: [UInt8], head: RequestHead) throws(APIFailure) {
        switch head.contentType?.name {
        case "application/json", "application/merge-patch+json": break
        case nil, .some: throw .input(.changesMediaType)
        }
        let elements = try Self.elements(body)
        var (changes, ids): ([IdentifiedChange], Set<Int64>) = ([], [])
        var undecided: [Int: GivenChange] = [:]
        changes.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let change = try Self.numbering(index + 1) { () throws(APIFailure) in
                let (change, given) = try Self.change(element)
                if given.needsTask { undecided[index] = given }
                guard ids.insert(change.id).inserted else { throw Self.wrong("id", "that of no other change") }
                return change
            }
            changes.append(change)
        }
        self.changes = changes
        self.undecided = undecided
    }

    /// The changes, decided by the stored tasks that `find` gives.
    ///
    /// Each decided change expects the revision that decided, unless the task is missing or not as the client expects.
    func decided(
        _ find: (Int64) async throws(APIFailure) -> TaskItem?
    ) async throws(APIFailure) -> [IdentifiedChange] {
        var decided = changes
        for (index, given) in undecided {
            let (id, expected) = (changes[index].id, changes[index].expected)
            guard let task = try await find(id), expected ?? task.revision == task.revision else { continue }
            let change = try Self.numbering(index + 1) { () throws(APIFailure) in try given.change(of: task) }
            decided[index] = IdentifiedChange(id: id, change: change, expected: task.revision)
        }
        return decided
    }

    /// The changes of these ids whose own condition is not met; the others expected the revision that decided.
    func conflicts(among ids: [Int64]) -> [Int64] {
        let decided = Set(undecided.keys.filter { changes[$0].expected == nil }.map { changes[$0].id })
        return ids.filter { !decided.contains($0) }
    }

    private static func elements(_ body: [UInt8]) throws(APIFailure) -> [JSONValue] {
        let value: JSONValue
        do {
            // A dozen members in each change (V-148).
            value = try TaskInput.json(body, values: 12 * most)
        } catch .input(.malformedJSON(let offset)) {
            throw .input(.malformedChanges(offset: offset))
        }
        guard let elements = value.array, (1...most).contains(elements.count) else {
            throw .input(.malformedChanges(offset: nil))
        }
        return elements
    }

    private static func change(_ element: JSONValue) throws(APIFailure) -> (IdentifiedChange, GivenChange) {
        guard let object = element.object else { throw .input(.malformedChanges(offset: nil)) }
        let input = try TaskInput(object)
        guard case .integer(let id) = try member("id", of: object) else {
            throw wrong("id", "the id of a task, a number")
        }
        let given = try input.change()
        let change = IdentifiedChange(
            id: id, change: try given.change(of: nil), expected: try revision(object, of: id))
        return (change, given)
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
