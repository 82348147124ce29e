/// HTML, into which a text is put escaped and HTML as it is.
///
/// A literal is HTML, so the compiler decides which of both an interpolated value is, and no call can be forgotten.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral value: String) {
        text = value
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(2 * literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += value.escapedForMarkup }

        mutating func appendInterpolation(_ html: HTML) { text += html.text }

        /// A style or a script, which have rules of their own.
        mutating func appendInterpolation(verbatim value: String) { text += value }

        /// One after the other, each on a line.
        mutating func appendInterpolation(_ list: [HTML]) {
            text += list.map(\.text).joined(separator: "\n")
        }
    }
}

extension String {
    /// The text, escaped for the text and for quoted attributes of HTML and XML.
    ///
    /// Each scalar is looked at: a combining mark after a quotation mark makes another character of both.
    package var escapedForMarkup: String {
        unicodeScalars.reduce(into: "") { text, scalar in text += Self.references[scalar] ?? String(scalar) }
    }

    private static let references: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
}
