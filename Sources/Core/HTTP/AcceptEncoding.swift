import Basics

extension HeaderSection {
    /// Whether the `Accept-Encoding` fields prefer gzip to no coding (RFC 9110 section 12.5.3).
    ///
    /// `x-gzip` is the same coding (section 8.4.1.3), and `*` any that is not named. No coding, `identity`, is preferred only
    /// where it is named with a higher weight. Without a field gzip would be allowed, but programs that cannot decode it
    /// send none either.
    package var preferGzip: Bool {
        guard mayContain("Accept-Encoding") else { return false }
        var codings = AcceptedCodings()
        for value in values("Accept-Encoding") { codings.add(value) }
        return codings.preferGzip
    }
}

/// The weights, in thousandths, of the codings that matter here; nil where one is not named.
private struct AcceptedCodings {
    private var gzip: Int?
    private var identity: Int?
    private var other: Int?

    var preferGzip: Bool {
        let weight = gzip ?? other ?? 0
        return weight > 0 && weight >= identity ?? 0
    }

    /// Adds the members of one field line.
    mutating func add(_ list: String) {
        var rest = list.utf8[...]
        while !rest.isEmpty {
            let member = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[member.endIndex...].dropFirst()
            let name = member.prefix { $0 != UInt8(ascii: ";") }
            add(Substring(name).trimmingBlanks, AcceptRange.weight(of: Substring(member[name.endIndex...])))
        }
    }

    /// Of a coding that is named twice the first weight counts.
    private mutating func add(_ name: Substring, _ weight: Int) {
        switch name.utf8.count {
        case 1 where name.isSame(as: "*"): other = other ?? weight
        case 4 where name.isEqualIgnoringCase(to: "gzip"): gzip = gzip ?? weight
        case 6 where name.isEqualIgnoringCase(to: "x-gzip"): gzip = gzip ?? weight
        case 8 where name.isEqualIgnoringCase(to: "identity"): identity = identity ?? weight
        default: break
        }
    }
}
