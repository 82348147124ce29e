import Basics
import HTTP
import JSON
import OpenSSL

/// Responses of the authority, by content type.
extension Response {
    static func json(_ value: JSONValue, status: Status = 200, headers: FieldLines = FieldLines()) -> Response {
        content(value.serialized(), "application/json", status: status, headers: headers)
    }

    /// Plain text; ends with a newline.
    static func text(_ text: String, status: Status = 200) -> Response {
        content(Array((text.hasSuffix("\n") ? text : text + "\n").utf8), "text/plain", status: status)
    }

    /// The response, or the refusal of what was asked.
    static func answering(_ make: () async throws(InputError) -> Response) async -> Response {
        do throws(InputError) { return try await make() } catch { return error.response }
    }

    /// Text in UTF-8 of this type, which no cache keeps unless the fields say so.
    static func content(
        _ body: [UInt8], _ type: String, status: Status = 200, headers more: FieldLines = FieldLines()
    ) -> Response {
        var headers: FieldLines = ["Content-Type": "\(type); charset=utf-8"]
        headers.append(more)
        if !headers.contains("Cache-Control") {
            headers.append("Cache-Control", "no-store, must-revalidate, no-cache")
            // RFC 6749 section 5.1 demands this of token responses, too.
            headers.append("Pragma", "no-cache")
        }
        headers.append("X-Content-Type-Options", "nosniff")
        return Response(status, headers: headers, body: body)
    }
}

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
