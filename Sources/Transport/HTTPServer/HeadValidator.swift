import Basics
import HTTP

/// Checks the fields of a head one after the other (V-142, V-143).
struct HeadValidator {
    private(set) var host: ArraySlice<UInt8>?
    private(set) var body = RequestLifecycle.ExpectedBody.none
    private(set) var fault: HTTPFault?
    private(set) var hasExpectation = false
    private var isUnexpected = false
    private var seen: SingleFields = []
    private let headers: HeaderSection

    /// Checks these fields, of which at most `limit` are allowed.
    init(_ headers: HeaderSection, limit: Int) {
        self.headers = headers
        let bytes = headers.bytes.span
        for (index, line) in headers.lines.enumerated() {
            guard index < limit else {
                fault = .tooManyFields
                return
            }
            let (name, value) = (bytes.extracting(line.name), bytes.extracting(line.value))
            // A name that is no token shows a space before the colon, most traces of folding, and bytes beyond ASCII.
            guard name.isToken, !value.hasControl else {
                fault = .framing
                return
            }
            check(name, value, at: line)
            if fault != nil { return }
        }
    }

    private mutating func check(_ name: Span<UInt8>, _ value: Span<UInt8>, at line: HeaderSection.Line) {
        switch name.count {
        case 4 where name.isEqualIgnoringCase(to: "Host"):
            once(.host, else: .host)
            host = headers.bytes[line.value]
        case 6 where name.isEqualIgnoringCase(to: "Expect"):
            hasExpectation = true
            if !value.isEqualIgnoringCase(to: "100-continue") { isUnexpected = true }
        case 12 where name.isEqualIgnoringCase(to: "Content-Type"): once(.type)
        case 14 where name.isEqualIgnoringCase(to: "Content-Length"):
            once(.length)
            setLength(value)
        case 17 where name.isEqualIgnoringCase(to: "Transfer-Encoding"):
            once(.coding)
            setCoding(value)
            // libmicrohttpd includes white space after the value in its comparison, and would read a body without end.
            let end = line.value.upperBound
            if end < headers.bytes.count, headers.bytes[end].isBlank { refuse(.framing) }
        default: break
        }
    }

    private mutating func setLength(_ value: Span<UInt8>) {
        // A number that Int cannot hold is at least one that libmicrohttpd reads as "unknown".
        guard let length = value.decimal, body != .chunked else { return refuse(.framing) }
        body = length == 0 ? .none : .length(length)
    }

    private mutating func setCoding(_ value: Span<UInt8>) {
        guard value.isEqualIgnoringCase(to: "chunked"), !seen.contains(.length) else { return refuse(.framing) }
        body = .chunked
    }

    private mutating func once(_ field: SingleFields, else fault: HTTPFault = .repeatedField) {
        if !seen.insert(field).inserted { refuse(fault) }
    }

    /// Refuses the request for this fault, unless an earlier fault was found.
    mutating func refuse(_ fault: HTTPFault) {
        if self.fault == nil { self.fault = fault }
    }

    /// Makes the last checks, when all fields have been read.
    mutating func close(version: String, isWhole: Bool) {
        guard fault == nil else { return }
        guard isWhole else { return refuse(.framing) }
        let isOneOne = version == "HTTP/1.1"
        guard isOneOne || version == "HTTP/1.0" else { return refuse(.version) }
        if !isOneOne, seen.contains(.coding) { refuse(.framing) }
        if host.map({ !$0.span.isHostField }) ?? isOneOne { refuse(.host) }
        if seen.isSuperset(of: [.coding, .length]) { refuse(.framing) }
        if isUnexpected { refuse(.expectation) }
    }
}

/// The fields that may occur only once; the application refuses two `Authorization` fields, with a challenge.
private struct SingleFields: OptionSet {
    let rawValue: UInt8
    static let host = SingleFields(rawValue: 1)
    static let type = SingleFields(rawValue: 2)
    static let length = SingleFields(rawValue: 4)
    static let coding = SingleFields(rawValue: 8)
}

extension Span<UInt8> {
    /// Whether there is a control character other than a tab.
    fileprivate var hasControl: Bool {
        // The loop has no branches, so that it becomes vector code. A check of each index would prevent that.
        var (least, leastFromDelete) = (UInt8.max, UInt8.max)
        for index in indices {
            let byte = unsafe self[unchecked: index]
            least = Swift.min(least, byte)
            leastFromDelete = Swift.min(leastFromDelete, byte ^ 0x7F)
        }
        guard least < 0x20 || leastFromDelete == 0 else { return false }
        return indices.contains { self[$0] < 0x20 && self[$0] != 0x09 || self[$0] == 0x7F }
    }
}
