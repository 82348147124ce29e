import Basics

extension HeaderSection {
    /// Returns whether the client already has the state of this entity tag: `If-None-Match` (RFC 9110 section 13.1.2).
    ///
    /// The tag is strong, in its quotes; a weak tag of the client matches, too (section 8.8.3.2). No tag of this server
    /// has a comma. For `If-Match` see `TaskItem.revisions(ifMatch:of:)`.
    package func ifNoneMatch(_ tag: String) -> Bool {
        var isFound = false
        forEachMember(of: "If-None-Match") { member in
            let isWeak = member.count > 2 && member.extracting(..<2).isSame(as: "W/")
            let opaque = isWeak ? member.extracting(2...) : member
            if opaque.isSame(as: tag) || member.isSame(as: "*") { isFound = true }
        }
        return isFound
    }
}
