import Basics

extension HeaderSection {
    /// Returns whether the client already has the state of this entity tag: `If-None-Match` (RFC 9110 section 13.1.2).
    ///
    /// The tag is strong, in its quotes; a weak tag of the client matches, too (section 8.8.3.2). The lines of the
    /// field are one list. The result is false if the field is missing or malformed. For `If-Match` see
    /// `TaskItem.revisions(ifMatch:of:)`.
    package func ifNoneMatch(_ tag: String) -> Bool {
        guard mayContain("If-None-Match") else { return false }
        var search = EntityTagSearch()
        for line in lines where isNamed(line, "If-None-Match") {
            guard search.read(bytes.span.extracting(line.value), for: tag.utf8.span) else { return false }
        }
        return search.isAny ? search.members == 1 : search.isFound
    }
}

/// The search for one tag in the lines of a field, which are read in place: browsers send one with most requests.
private struct EntityTagSearch {
    /// The members so far, on all lines.
    var members = 0
    /// Whether one of the members is `*`, which must be alone.
    var isAny = false
    var isFound = false

    /// Reads one line; returns false if the grammar does not allow it.
    mutating func read(_ line: Span<UInt8>, for tag: Span<UInt8>) -> Bool {
        var next = 0
        while let start = line.member(from: next) {
            members += 1
            if line[start] == UInt8(ascii: "*") {
                isAny = true
                next = start + 1
            } else {
                guard let opaque = line.opaqueTag(from: start) else { return false }
                if line.extracting(opaque).isSame(as: tag) { isFound = true }
                next = opaque.upperBound
            }
            while next < line.count, line[next].isBlank { next += 1 }
            guard next == line.count || line[next] == UInt8(ascii: ",") else { return false }
        }
        return true
    }
}

extension Span<UInt8> {
    /// Returns the index at which the next member of a list begins.
    fileprivate func member(from start: Int) -> Int? {
        var start = start
        while start < count, self[start].isBlank || self[start] == UInt8(ascii: ",") { start += 1 }
        return start < count ? start : nil
    }

    /// Returns the range of the tag that begins here, with its quotes and without `W/` (section 8.8.3).
    fileprivate func opaqueTag(from start: Int) -> Range<Int>? {
        let isWeak = start + 1 < count && self[start] == UInt8(ascii: "W") && self[start + 1] == UInt8(ascii: "/")
        let open = isWeak ? start + 2 : start
        guard open < count, self[open] == UInt8(ascii: "\"") else { return nil }
        var end = open + 1
        while end < count, self[end].isEntityTagCharacter { end += 1 }
        return end < count && self[end] == UInt8(ascii: "\"") ? open..<end + 1 : nil
    }
}

extension UInt8 {
    /// Whether this is an `etagc` (RFC 9110 section 8.8.3): anything visible but quotes, and bytes beyond ASCII.
    fileprivate var isEntityTagCharacter: Bool { self == 0x21 || self >= 0x23 && self != 0x7F }
}
