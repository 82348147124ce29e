import JSON

/// An object of a configuration, with its place for error messages.
struct ConfigurationMember {
    private let object: JSONObject
    private let place: String

    /// The whole file.
    static func root(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), place: String = "the file"
    ) throws(InputError) -> ConfigurationMember {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, limits: limits)
        } catch {
            switch error {
            case .tooLong, .tooDeep: throw InputError(message: "The JSON is too long or too deep.")
            case .malformed(let reason, let offset):
                throw InputError(message: "Not JSON at byte \(offset): \(reason).")
            }
        }
        return try ConfigurationMember(value, place: place)
    }

    init(_ value: JSONValue, place: String) throws(InputError) {
        guard let object = value.object else { throw InputError(message: "\(place) must be a JSON object.") }
        self.object = object
        self.place = place
    }

    /// Refuses every name but these.
    func allow(_ names: [String]) throws(InputError) {
        for member in object.members where !names.contains(member.name) {
            throw InputError(
                message: "\(place) has a member '\(member.name)'. Known: \(names.joined(separator: ", ")).")
        }
    }

    private func wrong(_ name: String, _ expected: String) -> InputError {
        InputError(message: "'\(name)' of \(place) must be \(expected).")
    }

    func text(_ name: String) throws(InputError) -> String? {
        guard let value = object[name], value != .null else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        return text
    }

    func required(_ name: String) throws(InputError) -> String {
        guard let text = try text(name), !text.isEmpty else { throw wrong(name, "a string that is not empty") }
        return text
    }

    func truth(_ name: String) throws(InputError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let truth = value.boolean else { throw wrong(name, "true or false") }
        return truth
    }

    /// Every number has bounds, so that no arithmetic with it overflows.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(InputError) -> Int64? {
        guard let value = object[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func optionalObject(_ name: String) throws(InputError) -> JSONObject? {
        guard let value = object[name] else { return nil }
        guard let object = value.object else { throw wrong(name, "an object") }
        return object
    }

    func texts(_ name: String) throws(InputError) -> [String] {
        let values = object[name]?.array ?? []
        let texts = values.compactMap(\.string)
        guard texts.count == values.count, object[name] == nil || object[name]?.array != nil else {
            throw wrong(name, "an array of strings")
        }
        return texts
    }

    func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String
    ) throws(InputError) -> Value? where Value.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw wrong(name, "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    func member(_ name: String) throws(InputError) -> ConfigurationMember? {
        guard let value = object[name] else { return nil }
        return try ConfigurationMember(value, place: "'\(name)'")
    }

    func list(_ name: String) throws(InputError) -> [ConfigurationMember]? {
        guard let value = object[name] else { return nil }
        guard let elements = value.array else { throw wrong(name, "an array") }
        return try elements.enumerated().map { index, element throws(InputError) in
            try ConfigurationMember(element, place: "\(name)[\(index)]")
        }
    }
}
