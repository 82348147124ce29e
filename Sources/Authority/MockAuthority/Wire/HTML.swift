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

        mutating func appendInterpolation(_ value: String) { text += value.htmlEscaped }

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
    /// The text, escaped for HTML text and for quoted attributes.
    fileprivate var htmlEscaped: String {
        var result = ""
        result.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
