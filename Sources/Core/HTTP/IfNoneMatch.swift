import Basics

extension HeaderSection {
    /// Returns whether the client already has the state of this entity tag: `If-None-Match` (RFC 9110 section 13.1.2).
    ///
    /// The tag is strong, in its quotes; a weak tag of the client matches, too (section 8.8.3.2), and so does the tag that
    /// a proxy made of it. No tag of this server has a comma. For `If-Match` see `TaskItem.revisions(ifMatch:of:)`.
    package func ifNoneMatch(_ tag: String) -> Bool {
        var isFound = false
        forEachMember(of: "If-None-Match") { member in
            let isWeak = member.count > 2 && member.extracting(..<2).isSame(as: "W/")
            let opaque = isWeak ? member.extracting(2...) : member
            if opaque.isSame(as: tag) || member.isSame(as: "*") || isCoded(opaque, of: tag) { isFound = true }
        }
        return isFound
    }

    /// Whether a tag is this one with the name of a coding that the client accepts at its end, as proxies write it when
    /// they compress: `"7.1-zstd"`, `"7.1--gzip"`, `"7.1"-br`.
    ///
    /// A cache that asks for a client without that coding gets the content.
    private func isCoded(_ coded: Span<UInt8>, of tag: String) -> Bool {
        let stem = tag.utf8.count - 1
        guard coded.count > stem, coded.extracting(..<stem).isSame(as: tag.utf8.span.extracting(..<stem)) else {
            return false
        }
        let end = coded[coded.count - 1] == UInt8(ascii: "\"") ? coded.count - 1 : coded.count
        var start = stem
        while start < end, !coded[start].isLetterOrDigit { start += 1 }
        guard start > stem, start < end else { return false }
        let coding = coded.extracting(start..<end)
        var isAccepted = false
        forEachMember(of: "Accept-Encoding") { member in
            let nameEnd = member.next(UInt8(ascii: ";"), from: 0) ?? member.count
            guard AcceptRange.weight(of: member.extracting(nameEnd...)) > 0 else { return }
            if member.extracting(member.trimming(0..<nameEnd)).isSame(as: coding) { isAccepted = true }
        }
        return isAccepted
    }
}
