/// A value for a statement, sent in binary form with its length: U+0000 in a text reaches the server, which refuses it.
package enum Parameter: Sendable {
    case integer(Int64?)
    case real(Double?)
    case text(String?)
    case boolean(Bool?)
    /// Integers of which some may be NULL, or NULL instead of the array.
    case integers([Int64?]?)
    case reals([Double?]?)
    case texts([String?]?)
    case booleans([Bool?]?)

    /// The server's number of the type (pg_type.dat), the same in every database.
    var type: UInt32 {
        switch self {
        case .boolean: 16
        case .integer: 20
        case .text: 25
        case .real: 701
        case .booleans: 1000
        case .texts: 1009
        case .integers: 1016
        case .reals: 1022
        }
    }

    /// Appends the binary form; returns false for NULL, which has none.
    func append(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .integer(let value?): bytes.append(bigEndian: value)
        case .text(let value?): bytes.append(contentsOf: value.utf8)
        case .boolean(let value?): bytes.append(value ? 1 : 0)
        case .real(let value?): bytes.append(bigEndian: value.bitPattern)
        case .integers(let values?): bytes.append(array: values, of: 20) { $0.append(bigEndian: $1) }
        case .reals(let values?): bytes.append(array: values, of: 701) { $0.append(bigEndian: $1.bitPattern) }
        case .texts(let values?): bytes.append(array: values, of: 25) { $0.append(contentsOf: $1.utf8) }
        case .booleans(let values?): bytes.append(array: values, of: 16) { $0.append($1 ? 1 : 0) }
        case .integer(nil), .text(nil), .boolean(nil), .real(nil): return false
        case .integers(nil), .texts(nil), .booleans(nil), .reals(nil): return false
        }
        return true
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        var value = value.bigEndian
        unsafe Swift.withUnsafeBytes(of: &value) { unsafe append(contentsOf: $0) }
    }

    /// The form of array_recv: dimensions, whether there are NULLs, type, count, first index, then each value with its
    /// length; a NULL has the length -1 and no bytes.
    fileprivate mutating func append<Value>(
        array values: [Value?], of type: Int32, _ appendElement: (inout [UInt8], Value) -> Void
    ) {
        append(headOfArray: values.count, of: type, hasNulls: values.contains { $0 == nil })
        for value in values {
            if let value { append(element: value, appendElement) } else { append(bigEndian: Int32(-1)) }
        }
    }

    private mutating func append(headOfArray count: Int, of type: Int32, hasNulls: Bool) {
        for field in [count == 0 ? 0 : 1, hasNulls ? 1 : 0, type] { append(bigEndian: Int32(field)) }
        guard count > 0 else { return }
        append(bigEndian: Int32(count))
        append(bigEndian: Int32(1))
    }

    private mutating func append<Value>(element value: Value, _ appendElement: (inout [UInt8], Value) -> Void) {
        let start = count
        append(bigEndian: Int32(0))
        appendElement(&self, value)
        let length = UInt32(truncatingIfNeeded: count - start - 4)
        for byte in 0..<4 {
            self[start + byte] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * byte))
        }
    }
}

/// Parameters in the shape that libpq wants: one block of bytes, and an address in the block for each parameter.
struct EncodedParameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var types: [UInt32] = []

    private static let formats = [Int32](repeating: 1, count: 16)

    init(_ parameters: [Parameter]) {
        let count = parameters.count
        bytes.reserveCapacity(count * 40 + 1)
        offsets.reserveCapacity(count)
        lengths.reserveCapacity(count)
        types.reserveCapacity(count)
        for parameter in parameters {
            let start = bytes.count
            offsets.append(parameter.append(to: &bytes) ? start : nil)
            lengths.append(Int32(bytes.count - start))
            types.append(parameter.type)
        }
        // An address must exist after an empty text at the end, too.
        bytes.append(0)
    }

    typealias Pointers = UnsafePointer<UnsafePointer<CChar>?>

    /// Lends the four arrays, out of which libpq copies before it returns.
    @safe
    func withPointers<Outcome>(
        _ body: (Int32, UnsafePointer<UInt32>?, Pointers?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Outcome
    ) -> Outcome {
        let formats = types.count <= 16 ? Self.formats : [Int32](repeating: 1, count: types.count)
        return unsafe bytes.withUnsafeBytes { block in
            let values = unsafe offsets.map { offset in
                unsafe offset.flatMap { unsafe block.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
            }
            return unsafe values.withUnsafeBufferPointer { values in
                unsafe body(Int32(types.count), types, values.baseAddress, lengths, formats)
            }
        }
    }
}
