import Basics
import JSON

/// The OpenAPI document of the controls (OpenAPI 3.1), made of ``ControlDescription/operations``.
///
/// docs/mock-authority.openapi.json is a copy of it, which a test compares.
enum ControlDescription {
    static let text = document.indentedText + "\n"

    private static var document: JSONValue {
        [
            "openapi": "3.1.0", "info": information, "servers": [["url": "http://127.0.0.1:3001"]],
            "paths": .object(paths),
            "components": ["parameters": .object(JSONObject(common.map { ($0.name, parameter($0, in: "query")) }))],
        ]
    }

    private static var information: JSONValue {
        [
            "title": "Controls of mock-authority", "version": .string(programVersion),
            "description": .string(
                "Controls for tests and people. They are answered on the loopback only, unless the mock was started with "
                    + "--allow-remote, under names that belong to this machine, and never for pages of other sites "
                    + "(403). docs/mock-authority.md has an example of each."),
        ]
    }

    /// The parameters that choose a tenant and a run.
    private static let common = [
        ControlMember("run", .text, "The test run; without it, that of requests that name none."),
        ControlMember("profile", .choice(TenantProfile.allCases.map(\.rawValue)), "The service; without it, b2c."),
        ControlMember("tenant", .text, "Domain or id of the tenant; without it, the first of the service."),
    ]

    private static var paths: JSONObject {
        var paths = JSONObject()
        for operation in operations {
            let path = "/\(operation.path)"
            var item = paths[path]?.object ?? JSONObject()
            item[operation.method.lowercased()] = .object(described(operation))
            paths[path] = .object(item)
        }
        return paths
    }

    private static func described(_ operation: ControlOperation) -> JSONObject {
        var object = JSONObject([("summary", .string(operation.summary))])
        let names = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
        let inPath = names.map {
            parameter(ControlMember(String($0), .text, "A name of the user.", isRequired: true), in: "path")
        }
        let inQuery = operation.parameters.map { parameter($0, in: "query") }
        let shared = common.map { ["$ref": .string("#/components/parameters/\($0.name)")] as JSONValue }
        object["parameters"] = .array(inPath + inQuery + shared)
        if !operation.body.isEmpty { object["requestBody"] = body(operation) }
        object["responses"] = .object(responses(operation))
        object["x-example"] = .object(example(operation))
        return object
    }

    private static func example(_ operation: ControlOperation) -> JSONObject {
        var example = JSONObject([("target", .string(operation.example.target))])
        if !operation.example.body.isEmpty { example["body"] = .string(operation.example.body) }
        return example
    }

    private static func body(_ operation: ControlOperation) -> JSONValue {
        ["required": true, "content": ["application/json": ["schema": schema(.object(operation.body))]]]
    }

    private static func parameter(_ member: ControlMember, in place: String) -> JSONValue {
        [
            "name": .string(member.name), "in": .string(place), "required": .boolean(member.isRequired),
            "description": .string(member.text), "schema": schema(member.type),
        ]
    }

    private static func responses(_ operation: ControlOperation) -> JSONObject {
        var responses = JSONObject()
        switch operation.answer {
        case .nothing: responses["204"] = ["description": "Done."]
        case .json(let text, let type): responses["200"] = response(text, [("application/json", schema(type))])
        case .textOrJSON(let text, let type):
            responses["200"] = response(text, [("text/plain", schema(.text)), ("application/json", schema(type))])
        }
        let reason = [("text/plain", schema(.text))]
        responses["400"] = response("The request cannot be used; the text says why.", reason)
        responses["403"] = response("The control does not answer this client.", reason)
        if operation.path.contains("{"), operation.body.isEmpty {
            responses["404"] = response("There is no such user.", reason)
        }
        return responses
    }

    private static func response(_ text: String, _ content: [(String, JSONValue)]) -> JSONValue {
        let types = content.map { type, schema -> (String, JSONValue) in (type, ["schema": schema]) }
        return ["description": .string(text), "content": .object(JSONObject(types))]
    }

    /// The JSON Schema of a type.
    private static func schema(_ type: ControlType) -> JSONValue {
        switch type {
        case .text: ["type": "string"]
        case .truth: ["type": "boolean"]
        case .any: [:]
        case .number(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .choice(let values): ["type": "string", "enum": .array(values.map { .string($0) })]
        case .texts: ["type": "array", "items": ["type": "string"]]
        case .list(let type): ["type": "array", "items": schema(type)]
        case .members: ["type": "object"]
        case .object(let members): schema(of: members)
        }
    }

    private static func schema(of members: [ControlMember]) -> JSONValue {
        let properties = members.map { member -> (String, JSONValue) in
            var object = schema(member.type).object ?? JSONObject()
            object["description"] = .string(member.text)
            return (member.name, .object(object))
        }
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        var object = JSONObject([("type", "object"), ("properties", .object(JSONObject(properties)))])
        if !required.isEmpty { object["required"] = .array(required) }
        object["additionalProperties"] = false
        return .object(object)
    }
}
