import Basics

/// The body of `multipart/form-data` (RFC 7578): parts with names, their values byte for byte.
package struct MultipartForm: Sendable, Equatable {
    /// One field of the form.
    package struct Part: Sendable, Equatable {
        /// The name of the field.
        package let name: String
        /// The name of the file, if the field is one.
        package let filename: String?
        /// The media type, if the part names one.
        package let contentType: MediaType?
        /// The value as it came.
        package let value: [UInt8]

        /// The value as text: Latin-1 if the part says so or is not UTF-8, otherwise UTF-8.
        package var text: String {
            let isLatin1 = contentType?.charset == "iso-8859-1"
            return isLatin1 ? String(latin1: value) : String(lenient: value)
        }
    }

    /// Why a body was refused.
    package enum Malformed: Error, Sendable, Equatable, CaseIterable {
        /// The boundary is empty, longer than 70 bytes, or cannot be one.
        case boundary
        /// The body does not begin with the boundary, does not end with it, or something stands behind it on its line.
        case delimiter
        /// The header block of a part does not end, or is longer than 2 KiB or 16 lines.
        case header
        /// A part has no name.
        case name
        /// There are more than ``mostParts``.
        case tooManyParts
    }

    /// The most parts of a form.
    package static let mostParts = 64

    /// The parts, in order.
    package let parts: [Part]

    /// Takes a body apart, in one pass.
    package static func parse(_ body: [UInt8], boundary: String) throws(Malformed) -> MultipartForm {
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw .boundary
        }
        var reader = MultipartReader(body: body, delimiter: Array("\r\n--\(boundary)".utf8))
        try reader.skipPreamble()
        var parts: [Part] = []
        while try reader.beginsPart() {
            guard parts.count < mostParts else { throw .tooManyParts }
            parts.append(try reader.part())
        }
        return MultipartForm(parts: parts)
    }

    /// The first field of this name, compared byte by byte.
    package subscript(name: String) -> Part? {
        parts.first { $0.name.utf8.elementsEqual(name.utf8) }
    }
}

/// A place in a multipart body.
private struct MultipartReader {
    let body: [UInt8]
    let delimiter: [UInt8]
    private var place = 0

    init(body: [UInt8], delimiter: [UInt8]) {
        self.body = body
        self.delimiter = delimiter
    }

    /// Goes behind the first delimiter, which needs no line break before it if it is the first of all.
    mutating func skipPreamble() throws(MultipartForm.Malformed) {
        if body.starts(with: delimiter.dropFirst(2)) {
            place = delimiter.count - 2
        } else {
            _ = try bytesBeforeDelimiter()
        }
    }

    /// Reads what stands behind a delimiter: the end of its line, or the two dashes that end the form.
    mutating func beginsPart() throws(MultipartForm.Malformed) -> Bool {
        if body[place...].starts(with: "--".utf8) { return false }
        while place < body.count, body[place].isBlank { place += 1 }
        guard body[place...].starts(with: "\r\n".utf8) else { throw .delimiter }
        place += 2
        return true
    }

    mutating func part() throws(MultipartForm.Malformed) -> MultipartForm.Part {
        var disposition: FieldParameters?
        var contentType: MediaType?
        let end = min(place + 2048, body.count)
        var lines = 0
        while let line = try headerLine(before: end) {
            lines += 1
            guard lines <= 16 else { throw .header }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .header }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = line[colon...].dropFirst()
            if name.isSameField(as: "Content-Disposition") { disposition = FieldParameters(value) }
            if name.isSameField(as: "Content-Type") { contentType = MediaType(String(decoding: value, as: UTF8.self)) }
        }
        let value = try bytesBeforeDelimiter()
        guard let name = disposition?["name"] else { throw .name }
        return MultipartForm.Part(
            name: name, filename: disposition?["filename"], contentType: contentType, value: value)
    }

    /// The next line of a header block, or nothing at its end.
    private mutating func headerLine(before limit: Int) throws(MultipartForm.Malformed) -> ArraySlice<UInt8>? {
        guard place < limit else { throw .header }
        let window = body[place..<limit]
        guard let end = window.firstIndex(of: 13), end + 1 < body.count, body[end + 1] == 10 else { throw .header }
        defer { place = end + 2 }
        return end == place ? nil : body[place..<end]
    }

    /// Everything up to the next delimiter; goes behind it.
    ///
    /// A carriage return stands only at the start of the delimiter, so no byte is looked at more than twice.
    private mutating func bytesBeforeDelimiter() throws(MultipartForm.Malformed) -> [UInt8] {
        var start = place
        while let candidate = body[start...].firstIndex(of: 13) {
            if body[candidate...].starts(with: delimiter) {
                defer { place = candidate + delimiter.count }
                return Array(body[place..<candidate])
            }
            start = candidate + 1
        }
        throw .delimiter
    }
}
