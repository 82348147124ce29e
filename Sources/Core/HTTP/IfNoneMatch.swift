import Basics

extension HeaderSection {
    /// Returns whether the client already has the state of this entity tag: `If-None-Match` (RFC 9110 section 13.1.2).
    ///
    /// The tag is strong, in its quotes; a weak tag of the client matches, too (section 8.8.3.2). The lines of the
    /// field are one list, in which `*` must be alone, and members that are no tags match nothing. No tag of this server
    /// has a comma. For `If-Match` see `TaskItem.revisions(ifMatch:of:)`.
    package func ifNoneMatch(_ tag: String) -> Bool {
        guard mayContain("If-None-Match") else { return false }
        let members = values("If-None-Match").flatMap { line in
            line.utf8.split(separator: UInt8(ascii: ",")).map { Substring($0).trimmingBlanks }
        }.filter { !$0.isEmpty }
        if members.contains("*") { return members.count == 1 }
        return members.contains { ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0).isSame(as: tag) }
    }
}
