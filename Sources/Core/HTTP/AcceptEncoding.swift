import Basics

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
