import JSON

/// The reading of JSON in this module: one object, strictly, within limits (V-20, V-51).
enum StrictJSON {
    /// The deepest nesting of tokens and keys.
    static let depth = 16
    /// The most members of the outermost object.
    static let members = 256

    /// Returns the members of an object, which are decoded on demand.
    static func members(_ bytes: [UInt8], longest: Int) throws(JSONError) -> JSONMembers {
        try JSONMembers(parsing: bytes, limits: JSONLimits(bytes: longest, depth: depth), most: members)
    }

    static func object(_ bytes: [UInt8], longest: Int) throws(JSONError) -> JSONObject {
        let value = try JSONValue(parsing: bytes, limits: JSONLimits(bytes: longest, depth: depth))
        guard case .object(let object) = value else { throw .malformed(reason: "not an object", offset: 0) }
        guard object.members.count <= members else { throw .tooLong }
        return object
    }
}
