import Basics

/// Why a form, or the query of a target, cannot be read.
package enum FormError: Error, Sendable, Equatable {
    case malformed
    /// There are more fields than ``FormURLEncoded/mostFields`` or ``MultipartForm/mostParts``.
    case tooMany
}

/// The body of `application/x-www-form-urlencoded`: names and values, decoded.
package struct FormURLEncoded: Sendable, Equatable {
    /// The most fields of a form, and the most arguments of a query: each takes memory and time of its own.
    package static let mostFields = 100

    package let fields: [RequestTarget.Argument]

    /// Reads a body: `+` and `%20` are spaces, `%00` is left to the application, and what is not UTF-8 is Latin-1.
    package static func parse(_ body: [UInt8]) throws(FormError) -> FormURLEncoded {
        FormURLEncoded(fields: try PercentDecoding(plusIsSpace: true, refusesZero: false).arguments(of: body[...]))
    }
}

extension PercentDecoding {
    /// Returns the pairs of a form or of a query, in order; empty pairs are left out.
    func arguments(of bytes: ArraySlice<UInt8>) throws(FormError) -> [RequestTarget.Argument] {
        var arguments: [RequestTarget.Argument] = []
        var rest = bytes
        while !rest.isEmpty {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[pair.endIndex...].dropFirst()
            if pair.isEmpty { continue }
            guard arguments.count < FormURLEncoded.mostFields else { throw .tooMany }
            let middle = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = decode(pair[..<middle]), let value = decode(pair[middle...].dropFirst()) else {
                throw .malformed
            }
            arguments.append(RequestTarget.Argument(name: String(lenient: name), value: String(lenient: value)))
        }
        return arguments
    }
}

/// The body of `multipart/form-data` (RFC 7578): parts with names, and with values byte for byte.
package struct MultipartForm: Sendable, Equatable {
    package struct Part: Sendable, Equatable {
        package let name: String
        /// The media type, if the part names one.
        package let contentType: MediaType?
        package let value: [UInt8]

        /// The value as text: Latin-1 if the part says so or is not UTF-8, otherwise UTF-8.
        package var text: String {
            let isLatin1 = contentType?.charset == "iso-8859-1"
            return isLatin1 ? String(latin1: value) : String(lenient: value)
        }
    }

    package static let mostParts = 64

    package let parts: [Part]

    /// Takes a body apart, in one pass.
    ///
    /// A boundary has 1 to 70 bytes, the headers of a part have at most 2 KiB and 16 lines, and every part has a name.
    package static func parse(_ body: [UInt8], boundary: String) throws(FormError) -> MultipartForm {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw .malformed
        }
        var reader = MultipartReader(body: body, delimiter: Array("\r\n--\(boundary)".utf8))
        try reader.skipPreamble()
        var parts: [Part] = []
        while try reader.beginsPart() {
            guard parts.count < mostParts else { throw .tooMany }
            parts.append(try reader.part())
        }
        return MultipartForm(parts: parts)
    }
}

private struct MultipartReader {
    let body: [UInt8]
    let delimiter: [UInt8]
    var position = 0

    /// Skips the first delimiter, which needs no line break before it at the start of the body.
    mutating func skipPreamble() throws(FormError) {
        if body.starts(with: delimiter.dropFirst(2)) {
            position = delimiter.count - 2
        } else {
            _ = try bytesBeforeDelimiter()
        }
    }

    /// Passes the end of a delimiter's line and returns true, or finds the two dashes that end the form.
    mutating func beginsPart() throws(FormError) -> Bool {
        if body[position...].starts(with: "--".utf8) { return false }
        while position < body.count, body[position].isBlank { position += 1 }
        guard body[position...].starts(with: "\r\n".utf8) else { throw .malformed }
        position += 2
        return true
    }

    mutating func part() throws(FormError) -> MultipartForm.Part {
        var disposition: FieldParameters?
        var contentType: MediaType?
        let end = min(position + 2048, body.count)
        var lines = 0
        while let line = try headerLine(before: end) {
            lines += 1
            guard lines <= 16 else { throw .malformed }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = line[colon...].dropFirst()
            if name.isEqualIgnoringCase(to: "Content-Disposition") { disposition = FieldParameters(value) }
            if name.isEqualIgnoringCase(to: "Content-Type") {
                contentType = MediaType(String(decoding: value, as: UTF8.self))
            }
        }
        let value = try bytesBeforeDelimiter()
        guard let name = disposition?["name"] else { throw .malformed }
        return MultipartForm.Part(name: name, contentType: contentType, value: value)
    }

    /// Returns the next line of a header block; nil at the end of the block.
    private mutating func headerLine(before limit: Int) throws(FormError) -> ArraySlice<UInt8>? {
        guard position < limit else { throw .malformed }
        let window = body[position..<limit]
        guard let end = window.firstIndex(of: 13), end + 1 < body.count, body[end + 1] == 10 else { throw .malformed }
        defer { position = end + 2 }
        return end == position ? nil : body[position..<end]
    }

    /// Returns all bytes up to the next delimiter, and skips it; no byte is examined more than twice.
    private mutating func bytesBeforeDelimiter() throws(FormError) -> [UInt8] {
        var start = position
        while let candidate = body[start...].firstIndex(of: 13) {
            if body[candidate...].starts(with: delimiter) {
                defer { position = candidate + delimiter.count }
                return Array(body[position..<candidate])
            }
            start = candidate + 1
        }
        throw .malformed
    }
}
