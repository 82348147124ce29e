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
