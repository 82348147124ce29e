/// How deep a JSON text nests and how many values it has, found without recursion and before any value is made, so that
/// no input can exhaust the stack of the parser or its time.
///
/// For broken JSON both are upper bounds.
struct JSONExtent {
    /// The deepest level of brackets outside of strings.
    private(set) var depth = 0
    /// At most this many values.
    private(set) var values = 1

    init(_ bytes: [UInt8]) {
        var level = 0
        var inString = false
        var escaped = false
        for byte in bytes {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                level += 1
                values += 1
                depth = max(depth, level)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
            case UInt8(ascii: ","): values += 1
            default: break
            }
        }
    }
}
