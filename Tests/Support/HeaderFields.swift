import Basics
import HTTP

/// The header fields of a message as texts, in the order in which they came, duplicates kept (RFC 9110 section 5).
package struct HeaderFields: Sendable, Equatable {
    package typealias Field = RequestTarget.Argument

    package private(set) var fields: [Field]

    package init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Appends a field; one of the same name stays.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field of this name, compared without case.
    package subscript(name: String) -> String? {
        fields.first { $0.name.isEqualIgnoringCase(to: name) }?.value
    }

    /// The values of all fields of this name, in order.
    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.isEqualIgnoringCase(to: name) }.map(\.value)
    }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension HeaderSection: ExpressibleByDictionaryLiteral {
    package typealias Field = RequestTarget.Argument

    /// Creates the section that these fields make.
    package init(_ fields: [Field]) {
        var bytes: [UInt8] = []
        let lines = fields.map { field in
            let (first, second) = (bytes.count, bytes.count + field.name.utf8.count)
            bytes += Array((field.name + field.value).utf8)
            return Line(name: first..<second, value: second..<bytes.count)
        }
        self.init(bytes: bytes, lines: lines)
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}
