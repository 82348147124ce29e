import Basics
private import CMicroHTTPD
import HTTP

/// Checks the fields of a head one after the other, as libmicrohttpd reports them (V-142, V-143), and keeps them.
struct HeadValidator {
    private(set) var fields: [HeaderFields.Field] = []
    private(set) var host: String?
    private(set) var body = RequestLifecycle.ExpectedBody.none
    private(set) var fault: HTTPFault?
    private var expects = false
    private var isUnexpected = false
    private var seen: SingleFields = []
    private var layout: HeadLayout
    private let limit: Int

    init(limit: Int, layout: HeadLayout) {
        self.limit = limit
        self.layout = layout
        fields.reserveCapacity(12)
    }

    /// Adds one field line; whether more are wanted.
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard fields.count < limit else { return stop(.tooManyFields) }
        unsafe layout.add(name, value)
        let value = unsafe value.withoutBlanks
        guard unsafe name.isToken, unsafe !value.hasControl else { return stop(.framing) }
        let text = unsafe String(decoding: value, as: UTF8.self)
        fields.append(HeaderFields.Field(name: unsafe String(decoding: name, as: UTF8.self), value: text))
        return unsafe check(name, text)
    }

    private mutating func check(_ name: UnsafeBufferPointer<UInt8>, _ value: String) -> Bool {
        switch name.count {
        case 4 where unsafe name.isField("host"):
            host = value
            return once(.host, else: .host)
        case 6 where unsafe name.isField("expect"):
            expects = true
            if !value.isSameField(as: "100-continue") { isUnexpected = true }
            return true
        case 12 where unsafe name.isField("content-type"): return once(.type)
        case 14 where unsafe name.isField("content-length"): return once(.length) && setLength(value)
        case 17 where unsafe name.isField("transfer-encoding"): return once(.coding) && setCoding(value)
        default: return true
        }
    }

    private mutating func setLength(_ value: String) -> Bool {
        guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return stop(.framing) }
        // A number that Int cannot hold is at least one that libmicrohttpd reads as "unknown".
        guard let length = Int(value), body != .chunked else { return stop(.framing) }
        body = length == 0 ? .none : .length(length)
        return true
    }

    private mutating func setCoding(_ value: String) -> Bool {
        guard value.isSameField(as: "chunked"), !seen.contains(.length) else { return stop(.framing) }
        body = .chunked
        return true
    }

    private mutating func once(_ field: SingleFields, else fault: HTTPFault = .repeatedField) -> Bool {
        seen.insert(field).inserted ? true : stop(fault)
    }

    private mutating func stop(_ fault: HTTPFault) -> Bool {
        self.fault = fault
        return false
    }

    /// Refuses a request without another fault.
    mutating func refuse(_ fault: HTTPFault) {
        if self.fault == nil { self.fault = fault }
    }

    /// Where the head ended, if it had no fault.
    var end: UInt { layout.end }

    /// The last checks, when all fields are in.
    mutating func close(version: UnsafePointer<CChar>?, headSize: Int) {
        guard fault == nil else { return }
        guard layout.isWhole(headSize: headSize) else {
            fault = .framing
            return
        }
        if let host, !host.isHostField { fault = .host }
        switch unsafe HTTPVersion(version) {
        case .oneOne:
            if host == nil { fault = .host }
        case .oneZero:
            if seen.contains(.coding) { fault = .framing }
        case .other:
            fault = .version
        }
        if fault == nil, seen.isSuperset(of: [.coding, .length]) { fault = .framing }
        if fault == nil, isUnexpected { fault = .expectation }
    }
}

/// The fields that may occur only once; two `Authorization` fields are the application's to refuse, with a challenge.
private struct SingleFields: OptionSet {
    let rawValue: UInt8
    static let host = SingleFields(rawValue: 1)
    static let type = SingleFields(rawValue: 2)
    static let length = SingleFields(rawValue: 4)
    static let coding = SingleFields(rawValue: 8)
}

private enum HTTPVersion {
    case oneOne, oneZero, other

    init(_ text: UnsafePointer<CChar>?) {
        guard let text = unsafe text else {
            self = .other
            return
        }
        switch unsafe String(cString: text) {
        case "HTTP/1.1": self = .oneOne
        case "HTTP/1.0": self = .oneZero
        default: self = .other
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether this is a token (RFC 9110 section 5.6.2), as field names are.
    ///
    /// Catches a space before the colon, most of what folding leaves, and bytes beyond ASCII.
    fileprivate var isToken: Bool {
        var isToken = !isEmpty
        for index in indices where unsafe !isTokenByte[Int(self[index])] { isToken = false }
        return isToken
    }

    /// Whether a control character other than a tab is in here; without branches, so that it becomes vector code.
    fileprivate var hasControl: Bool {
        var found: UInt8 = 0
        for index in indices {
            let byte = unsafe self[index]
            found |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
        }
        return found != 0
    }

    fileprivate var withoutBlanks: UnsafeBufferPointer<UInt8> {
        var rest = unsafe self[...]
        while let last = unsafe rest.last, last == 0x20 || last == 0x09 { unsafe rest.removeLast() }
        while let first = unsafe rest.first, first == 0x20 || first == 0x09 { unsafe rest.removeFirst() }
        return unsafe UnsafeBufferPointer(rebasing: rest)
    }

    /// Whether this is the name of a field, given in lower case, of the same length.
    fileprivate func isField(_ name: StaticString) -> Bool {
        let other = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return unsafe zip(self, other).allSatisfy { $0.lowercasedASCII == $1 }
    }
}

private let isTokenByte: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for byte in (letters + "!#$%&'*+-.^_`|~").utf8 { table[Int(byte)] = true }
    return table
}()
