import JSON

/// The discovery documents: the members of each service and no others, in its order, as Static/metadata.json lists them
/// (P-37; docs/reproduced.md, "Metadata").
extension RequestContext {
    /// The document of a service with these values, and the addresses of endpoints, in the places of `{names}`.
    func document(
        _ name: String, _ values: JSONObject, at place: (Routes.Row) -> Routes.Row = { $0 }
    ) -> JSONValue {
        let endpoints: KeyValuePairs = [
            "{authorize}": Routes.authorize, "{token}": Routes.token, "{logout}": Routes.logout, "{keys}": Routes.keys,
            "{userinfo}": Routes.userInfo, "{devicecode}": Routes.deviceCode,
        ]
        var all = JSONObject(endpoints.map { ($0.key, address(of: place($0.value))) })
        all.replace(by: values)
        return .document(name, all)
    }
}

extension JSONValue {
    private static let documents = (try? JSONValue(parsing: PackageResources.metadata_json)) ?? .null

    static func document(_ name: String, _ values: JSONObject) -> JSONValue {
        documents.object?[name]?.filled(with: values) ?? .null
    }

    /// The value with these values in the places of the texts that name them.
    func filled(with values: JSONObject) -> JSONValue {
        switch self {
        case .string(let text): values[text] ?? self
        case .array(let elements): .array(elements.map { $0.filled(with: values) })
        case .object(let object): .object(JSONObject(object.members.map { ($0.name, $0.value.filled(with: values)) }))
        default: self
        }
    }
}
