import Basics

extension HeaderSection {
    /// Whether the `Accept-Encoding` fields prefer gzip to no coding (RFC 9110 section 12.5.3).
    ///
    /// `x-gzip` is the same coding (section 8.4.1.3), and `*` is any coding that is not named. `identity`, no coding,
    /// is preferred only if it is named with a higher weight. Without a field gzip would be allowed, but programs that
    /// cannot decode gzip send no field either.
    package var preferGzip: Bool {
        guard mayContain("Accept-Encoding") else { return false }
        var codings = AcceptedCodings()
        for line in lines where isNamed(line, "Accept-Encoding") { codings.add(bytes.span.extracting(line.value)) }
        return codings.preferGzip
    }
}

/// The weights, in thousandths, of the codings that matter here; nil if a coding is not named.
private struct AcceptedCodings {
    private var gzip: Int?
    private var identity: Int?
    private var other: Int?

    var preferGzip: Bool {
        let weight = gzip ?? other ?? 0
        return weight > 0 && weight >= identity ?? 0
    }

    /// Adds the members of one field line, which is read in place because nearly all clients send one.
    mutating func add(_ list: Span<UInt8>) {
        var start = 0
        while start < list.count {
            let end = list.next(UInt8(ascii: ","), from: start) ?? list.count
            add(member: list.extracting(start..<end))
            start = end + 1
        }
    }

    /// Adds one member; the first weight counts if a coding is named twice.
    private mutating func add(member: Span<UInt8>) {
        let end = member.next(UInt8(ascii: ";"), from: 0) ?? member.count
        let name = member.extracting(member.trimming(0..<end))
        let parameters = member.extracting(end...)
        switch name.count {
        case 1 where name.isSame(as: "*"): other = other ?? AcceptRange.weight(of: parameters)
        case 4 where name.isEqualIgnoringCase(to: "gzip"): gzip = gzip ?? AcceptRange.weight(of: parameters)
        case 6 where name.isEqualIgnoringCase(to: "x-gzip"): gzip = gzip ?? AcceptRange.weight(of: parameters)
        case 8 where name.isEqualIgnoringCase(to: "identity"): identity = identity ?? AcceptRange.weight(of: parameters)
        default: break
        }
    }
}
