import JSON
import Platform

/// A file next to the tests, found by the path of the source: no bundle, so no Foundation.
package struct TestFile: Sendable {
    /// The path.
    package let path: String

    /// A file named relative to the folder of the calling source file.
    package init(_ name: String, besides source: String = #filePath) {
        let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        path = folder.joined(separator: "/") + "/" + name
    }

    /// A test vector of Tests/OpenSSLTests/Vectors.
    package static func vector(_ name: String) -> TestFile {
        TestFile("../OpenSSLTests/Vectors/\(name)", besides: #filePath)
    }

    /// All of it.
    package func bytes() throws(SystemError) -> [UInt8] { try File.read(path) }

    /// All of it, read as one JSON text.
    package func json() throws -> JSONValue {
        try JSONValue(parsing: bytes())
    }
}

extension JSONValue {
    /// The member of an object, or `null`: so that tests can walk vectors without unwrapping at each step.
    package subscript(name: String) -> JSONValue {
        object?[name] ?? .null
    }
}

/// The bytes that hexadecimal digits spell; nothing for anything else.
package func bytes(hex: String) -> [UInt8]? {
    let digits = hex.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) }
    guard digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).reduce(into: [UInt8]?([])) { bytes, index in
        guard let high = digits[index], let low = digits[index + 1] else { return bytes = nil }
        bytes?.append(high << 4 | low)
    }
}
