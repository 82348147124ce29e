internal import HTTP
internal import JSON

/// The answers of the authority, by content type.
enum Reply {
    /// JSON on one line.
    static func json(_ value: JSONValue, status: Status = 200, headers: HeaderFields = HeaderFields()) -> Response {
        with(value.serialized(), "application/json; charset=utf-8", status, headers)
    }

    /// Plain text; ends with a newline.
    static func text(_ text: String, status: Status = 200) -> Response {
        with(Array((text.hasSuffix("\n") ? text : text + "\n").utf8), "text/plain; charset=utf-8", status)
    }

    /// A short HTML page without script.
    static func html(_ html: String, status: Status = 200, headers: HeaderFields = HeaderFields()) -> Response {
        with(Array(html.utf8), "text/html; charset=utf-8", status, headers)
    }

    private static func with(
        _ body: [UInt8], _ type: String, _ status: Status, _ more: HeaderFields = HeaderFields()
    ) -> Response {
        var headers: HeaderFields = ["Content-Type": type]
        for field in more.fields { headers.append(field.name, field.value) }
        if !headers.contains("Cache-Control") { headers.append("Cache-Control", "no-store, must-revalidate, no-cache") }
        headers.append("X-Content-Type-Options", "nosniff")
        return Response(status, headers: headers, body: body)
    }

    /// An answer of the documentation kind: wrong method.
    static func methodNotAllowed(_ allowed: String) -> Response {
        var response = text("This endpoint answers \(allowed) only.", status: 405)
        response.headers.append("Allow", allowed)
        return response
    }
}
