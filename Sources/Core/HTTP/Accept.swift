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
        let ranges = acceptRanges
        guard let html = AcceptRange.best(for: "text/html", of: ranges), html.weight > 0,
            html.name.isEqualIgnoringCase(to: "text/html")
        else { return false }
        return ["text/plain", "application/json", Problem.mediaType].allSatisfy { type in
            guard let other = AcceptRange.best(for: type, of: ranges) else { return true }
            return html.weight > other.weight || (html.weight == other.weight && !other.isNamed)
        }
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
