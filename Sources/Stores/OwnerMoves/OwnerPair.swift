import Basics
package import Tasks

/// One line of a map: whose tasks go to whom.
package struct OwnerPair: Sendable, Equatable {
    package let old: Owner
    package let new: Owner

    /// The owners of two texts, as a server would make them of tokens; the error has no values.
    init(old: String, new: String) throws(OperatorError) {
        self.old = try Self.owner(old, "the old owner")
        self.new = try Self.owner(new, "the new owner")
        guard self.old != self.new else { throw OperatorError("both owners are the same") }
    }

    private static func owner(_ text: String, _ name: String) throws(OperatorError) -> Owner {
        guard !text.isEmpty else { throw OperatorError("\(name) is empty") }
        guard text.utf8.count <= Owner.longest else {
            throw OperatorError("\(name) has more than \(Owner.longest) bytes")
        }
        guard Owner(checked: text) != nil else { throw OperatorError("\(name) has a control character") }
        guard text.utf8.first != UInt8(ascii: " "), text.utf8.last != UInt8(ascii: " ") else {
            throw OperatorError("\(name) has a space before or after it")
        }
        return folded(text)
    }

    /// Folds GUIDs to lower case, as servers store them (V-57), also with a namespace (P-14) and in pairs (P-16); any other
    /// text is taken as it is.
    private static func folded(_ text: String) -> Owner {
        let whole = Owner(text)
        guard let name = whole.namespace else { return Owner(foldedValue(text) ?? text) }
        let value = String(text.utf8.dropFirst(name.utf8.count + 1)) ?? ""
        return foldedValue(value).map { Owner("\(name):\($0)") } ?? whole
    }

    /// One GUID, or two with a plus between them; nil for all else.
    private static func foldedValue(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "+"), omittingEmptySubsequences: false)
        let guids = parts.compactMap { part in String(part).flatMap(GUID.canonical) }
        return guids.count == parts.count && guids.count <= 2 ? guids.joined(separator: "+") : nil
    }
}
