extension HeaderFields {
    /// Whether an `Accept` field names one of these types literally, not by a wildcard and not with weight 0.
    public func acceptNames(_ types: String...) -> Bool { acceptNames(any: types) }

    func acceptNames(_ type: String, or other: String) -> Bool { acceptNames(any: [type, other]) }

    private func acceptNames(any types: [String]) -> Bool {
        fields.contains { field in
            field.name.isSameField(as: "Accept")
                && field.value.split(separator: ",").contains { $0.isRange(of: types) }
        }
    }
}

extension Substring {
    /// Whether this element of an `Accept` list is one of the types, and wanted.
    fileprivate func isRange(of types: [String]) -> Bool {
        let parts = split(separator: ";", omittingEmptySubsequences: false)
        guard let name = parts.first?.trimmedOfBlanks else { return false }
        guard types.contains(where: { $0.isSameField(as: name) }) else { return false }
        return !parts.dropFirst().contains { $0.trimmedOfBlanks.isZeroWeight }
    }
}

extension String {
    /// Whether this parameter is `q=0`, however precisely (RFC 9110 section 12.4.2).
    fileprivate var isZeroWeight: Bool {
        let bytes = Array(utf8)
        guard bytes.count >= 3, bytes[0].lowercasedASCII == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "=") else {
            return false
        }
        return bytes.dropFirst(2).allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    var trimmedOfBlanks: String {
        var bytes = utf8[...]
        while let first = bytes.first, first.isBlank { bytes.removeFirst() }
        while let last = bytes.last, last.isBlank { bytes.removeLast() }
        return String(Substring(bytes))
    }
}

extension UInt8 {
    /// Space or tab: the optional white space of HTTP (RFC 9110 section 5.6.3).
    public var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
