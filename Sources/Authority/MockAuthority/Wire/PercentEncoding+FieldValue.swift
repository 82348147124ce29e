import Basics

extension PercentEncoding {
    /// A URI of a client as the value of a field: spaces and controls, which end lines and have no place in one, as
    /// `%xx`.
    static func fieldValue(uri: String) -> String {
        let isPlain = { (byte: UInt8) in byte > 0x20 && byte != 0x7F }
        if uri.utf8.allSatisfy(isPlain) { return uri }
        return uri.unicodeScalars.reduce(into: "") { text, scalar in
            let isByte = scalar.isASCII && !isPlain(UInt8(scalar.value))
            text += isByte ? encode(String(scalar), .lower) : String(scalar)
        }
    }
}
