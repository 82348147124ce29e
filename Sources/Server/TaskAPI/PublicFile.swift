import Basics
import Tasks
import Zlib

/// A file of `Public/`, read into memory at start.
package struct PublicFile: Sendable {
    package let bytes: [UInt8]
    package let type: String
    /// The strong entity tag, in quotes.
    package let entityTag: String
    /// Nil for a short file, and for pictures, which are compressed already.
    let gzip: GzipForm?

    package init(name: String, bytes: [UInt8]) {
        self.bytes = bytes
        type = Self.type(of: name)
        var digest = FNV1a()
        digest.add(bytes)
        entityTag = "\"\(String(digest.value, radix: 16))\""
        let mayShrink = !["image/png", "image/x-icon", Self.unknown].contains(type)
        // Files are compressed once, so thoroughly.
        gzip = mayShrink ? GzipForm(of: bytes, .thorough) : nil
    }

    private static let unknown = "application/octet-stream"

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "yaml", "yml": "application/yaml"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "txt": "text/plain; charset=utf-8"
        default: unknown
        }
    }
}
