import Basics
private import OpenSSL

extension String {
    var spaceSeparated: [String] { utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) } }
}

extension GUID {
    static func random() -> String { version4(random: SecureRandom.bytes(16)) }
}

extension Timestamp {
    /// `2018-07-10 06:35:29Z`, as B2C writes times, of this many seconds since 1970.
    static func b2cText(seconds: Int64) -> String {
        let text = Timestamp(seconds: seconds).text
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }
}

extension PercentEncoding {
    /// A URI of a client as the value of a field: spaces and controls, which end lines and have no place in one, as
    /// `%xx`.
    static func fieldValue(uri: String) -> String {
        uri.unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.value > 0x20 && scalar.value != 0x7F ? String(scalar) : encode(String(scalar), .lower)
        }
    }
}
