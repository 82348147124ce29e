import Basics

extension HeaderSection {
    /// Returns whether the `Accept` fields prefer one of these JSON types to plain text (RFC 9110 section 12.5.1).
    ///
    /// The most specific range that matches a type gives its weight, and the higher weight wins. If both weigh the
    /// same, a JSON type that was named wins, also as `application/*`; `*/*` alone, or no field at all, is text.
    func preferJSON(_ types: [String]) -> Bool {
        let ranges = acceptRanges
        let text = AcceptRange.best(for: "text/plain", of: ranges)
        return types.contains { type in
            guard let json = AcceptRange.best(for: type, of: ranges), json.weight > 0 else { return false }
            guard let text, text.weight >= json.weight else { return true }
            return text.weight == json.weight && json.isNamed
        }
    }

    /// Whether the `Accept` fields prefer JSON to plain text.
    package var preferJSON: Bool { preferJSON(["application/json"]) }

    /// Whether the `Accept` fields ask for HTML, as browsers do, rather than for one of the forms of a problem.
    ///
    /// `text/html` must be named itself, and weigh more than every other form, or the same as forms that are not
    /// named.
    package var preferHTML: Bool {
        ["text/plain", "application/json", Problem.mediaType].allSatisfy { name("text/html", before: $0) }
    }

    /// Whether the `Accept` fields name a type, and prefer it to another one; with equal weights the other one counts.
    package func name(_ type: String, before other: String) -> Bool {
        let ranges = acceptRanges
        guard let wanted = AcceptRange.best(for: type, of: ranges), wanted.weight > 0,
            wanted.name.isEqualIgnoringCase(to: type)
        else { return false }
        guard let other = AcceptRange.best(for: other, of: ranges) else { return true }
        return wanted.weight > other.weight || wanted.weight == other.weight && !other.isNamed
    }

    /// Whether a range of the `Accept` fields has this parameter, in lower case: `application/json; names=one`.
    package func acceptParameter(_ parameter: String) -> Bool {
        var isFound = false
        forEachMember(of: "Accept") { member in
            var start = member.next(UInt8(ascii: ";"), from: 0)
            while let begin = start {
                start = member.next(UInt8(ascii: ";"), from: begin + 1)
                let range = member.trimming(begin + 1..<(start ?? member.count))
                if member.extracting(range).isEqualIgnoringCase(to: parameter) { isFound = true }
            }
        }
        return isFound
    }

    private var acceptRanges: [AcceptRange] {
        values("Accept").flatMap { $0.split(separator: ",") }.compactMap { AcceptRange($0) }
    }
}

/// One media range of an `Accept` field, with its weight in thousandths.
struct AcceptRange {
    let name: String
    let weight: Int

    /// Whether the range names the type, or a part of it.
    var isNamed: Bool { name != "*/*" }

    /// Reads an element of the list; nil if the element is empty.
    init?(_ element: Substring) {
        let range = element.prefix { $0 != ";" }
        let name = range.trimmingBlanks
        guard !name.isEmpty else { return nil }
        self.name = String(name)
        weight = Self.weight(of: Array(element[range.endIndex...].utf8).span)
    }

    /// Returns the most specific of the ranges that match a type.
    static func best(for type: String, of ranges: [AcceptRange]) -> AcceptRange? {
        guard !ranges.isEmpty else { return nil }
        let family = "\(Substring(type.utf8.prefix { $0 != UInt8(ascii: "/") }))/*"
        for wanted in [type, family, "*/*"] {
            if let found = ranges.first(where: { $0.name.isEqualIgnoringCase(to: wanted) }) { return found }
        }
        return nil
    }

    /// Returns the weight among parameters, each after a semicolon; the highest weight if there is none.
    static func weight(of parameters: Span<UInt8>) -> Int {
        var start = 0
        while start < parameters.count {
            let end = parameters.next(UInt8(ascii: ";"), from: start) ?? parameters.count
            let parameter = parameters.extracting(parameters.trimming(start..<end))
            if let weight = weight(ofParameter: parameter) { return weight }
            start = end + 1
        }
        return 1000
    }

    /// Returns the weight if this parameter is a sound one (`q=0.5` is 500), otherwise nil.
    private static func weight(ofParameter parameter: Span<UInt8>) -> Int? {
        guard (3...7).contains(parameter.count), parameter.beginsIgnoringCase("q="), parameter[2].isDecimalDigit else {
            return nil
        }
        if parameter.count > 3, parameter[3] != UInt8(ascii: ".") { return nil }
        var weight = Int(parameter[2] - UInt8(ascii: "0"))
        for index in 4..<7 {
            let digit = index < parameter.count ? parameter[index] : UInt8(ascii: "0")
            guard digit.isDecimalDigit else { return nil }
            weight = weight * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return min(1000, weight)
    }
}

extension HeaderSection {
    /// Whether the `Accept-Encoding` fields prefer gzip to no coding (RFC 9110 section 12.5.3).
    ///
    /// `x-gzip` is the same coding (section 8.4.1.3), and `*` is any coding that is not named. `identity`, no coding,
    /// is preferred only if it is named with a higher weight. If a coding is named twice, the first weight counts.
    /// Without a field gzip would be allowed, but programs that cannot decode gzip send no field either.
    package var preferGzip: Bool {
        var gzip: Int?
        var identity: Int?
        var other: Int?
        forEachMember(of: "Accept-Encoding") { member in
            let end = member.next(UInt8(ascii: ";"), from: 0) ?? member.count
            let name = member.extracting(member.trimming(0..<end))
            let weight = AcceptRange.weight(of: member.extracting(end...))
            if name.isEqualIgnoringCase(to: "gzip") || name.isEqualIgnoringCase(to: "x-gzip") {
                gzip = gzip ?? weight
            } else if name.isEqualIgnoringCase(to: "identity") {
                identity = identity ?? weight
            } else if name.isSame(as: "*") {
                other = other ?? weight
            }
        }
        let weight = gzip ?? other ?? 0
        return weight > 0 && weight >= identity ?? 0
    }
}

extension HeaderSection {
    /// Returns whether the client already has the state of this entity tag: `If-None-Match` (RFC 9110 section 13.1.2).
    ///
    /// The tag is strong, in its quotes; a weak tag of the client matches, too (section 8.8.3.2), and so does the tag
    /// that a proxy made of it. No tag of this server has a comma. For `If-Match` see
    /// `TaskItem.revisions(ifMatch:of:)`.
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
