import Basics
import HTTP
import Tasks
import Zlib

/// A list or a file, which each client gets as it is or in its gzip form (RFC 9110 section 8.4.1.3).
struct Representation: Sendable {
    let bytes: [UInt8]
    /// The strong entity tag of these bytes, in quotes.
    let entityTag: String
    /// The fields of its answers, with this entity tag.
    let headers: FieldLines
    /// Nil if clients get only the bytes as they are.
    let gzip: GzipForm?
    /// The place of a long list, in either form.
    var place: AnswerPlace?

    /// The answer to a request: 304 if the client has the bytes of either form, provided that it accepts that form.
    ///
    /// Up to 16 KiB are compressed on the event loop in 30 us, more on a thread of Swift's pool.
    func answer(to head: RequestHead) -> HandlerResult {
        let accepted = head.headers.preferGzip ? gzip : nil
        if head.headers.mayContain("If-None-Match") {
            if accepted != nil, head.headers.ifNoneMatch(gzipTag) { return .ready(unchanged(gzipTag)) }
            if head.headers.ifNoneMatch(entityTag) { return .ready(unchanged(entityTag)) }
        }
        guard let accepted else { return .ready(plain) }
        if bytes.count <= AnswerMemory.unplaced || accepted.isMade { return .ready(compressed(accepted)) }
        return .pending { () async throws(APIFailure) in
            // The task is detached, because that of the request begins on the connection's event loop.
            .ready(await Task.detached { compressed(accepted) }.value)
        }
    }

    /// The entity tag of the gzip form (RFC 9110 section 8.8.3.3).
    private var gzipTag: String { "\(entityTag.dropLast())-gzip\"" }

    /// The answer to a client that has the bytes of this tag.
    private func unchanged(_ tag: String) -> Response {
        var response = Response(304, headers: headers)
        if tag != entityTag { response.headers.set("ETag", tag) }
        return response
    }

    private var plain: Response {
        var response = Response(200, headers: headers, body: bytes)
        response.kept = place
        return response
    }

    /// The answer in the gzip form; as it is if gzip saves too little.
    private func compressed(_ gzip: GzipForm) -> Response {
        guard let form = gzip.bytes else { return plain }
        var response = Response(200, headers: headers, body: form)
        response.kept = place
        response.headers.set("ETag", gzipTag)
        response.headers.append("Content-Encoding", "gzip")
        return response
    }
}

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
