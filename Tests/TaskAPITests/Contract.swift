import HTTP
import JSON
import Support

/// The contract as far as it is compared with the table of routes, read from `Public/openapi.json`, which lint compares
/// with openapi.yaml.
struct Contract {
    let paths: [(path: String, operations: [Method: ContractOperation])]
    let taskMembers: [String]
    /// The schema of `{id}`.
    let identifier: JSONValue

    init() throws {
        let contract = try TestFile("../../Public/openapi.json").json()
        taskMembers = contract["components"]["schemas"]["TodoTask"]["properties"].members.map(\.name)
        identifier = contract["components"]["parameters"]["id"]["schema"]
        paths = contract["paths"].members.map { path in
            let operations = path.value.members
                .map { (Method($0.name.uppercased()), ContractOperation($0.value)) }
            return (path.name, Dictionary(uniqueKeysWithValues: operations))
        }
    }
}

/// What the contract says of one method of a path.
struct ContractOperation {
    let hasBody: Bool
    /// The whole contract demands a token, and `security: []` takes that back.
    let needsToken: Bool
    let scope: String?

    init(_ operation: JSONValue) {
        hasBody = operation["requestBody"].object != nil
        needsToken = operation["security"].array?.isEmpty != true
        scope = operation["x-scope"].string
    }
}

extension JSONValue {
    fileprivate var members: [JSONObject.Member] { object?.members ?? [] }
}
