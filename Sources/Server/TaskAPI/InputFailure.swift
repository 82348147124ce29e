import HTTP
import Tasks

/// Why the input of a request cannot be used.
enum InputFailure: Error {
    /// There is no text; perhaps because the body looks like JSON and its type says form.
    case missingText(looksLikeJSON: Bool)
    case text(TaskText.Failure)
    /// JSON that is malformed at this byte, if it is known.
    case malformedJSON(offset: Int?)
    case malformedForm
    case tooManyFormFields
    case unsupportedMediaType
    case changesMediaType
    /// The body is compressed (`Content-Encoding`).
    case contentCoding
    case field(name: String, expected: String)
    /// Both names of a value are new, and they disagree.
    case contradiction(TaskChange.Contradiction)
    case detail(name: String, expected: String)
    case argument(name: String, expected: String)
    /// Not a list of changes; JSON that is malformed at this byte, if it is known.
    case malformedChanges(offset: Int?)
    /// A failure of one change in a list, counted from 1.
    indirect case change(number: Int, InputFailure)
    case malformedIdempotencyKey
    case idempotencyKeyReused

    var problem: Problem {
        switch self {
        case .missingText(looksLikeJSON: false), .text(.empty):
            // Status and code of the sample servers (docs/clients.md, "Errors").
            Problem(
                409, "MissingTask", "The text is missing",
                "Give a text: {\"task\":\"Buy milk\"} as application/json, or a form field task or Text.")
        case .missingText(looksLikeJSON: true):
            Problem(
                409, "MissingTask", "The text is missing",
                "The body looks like JSON, but its type says form; add the header Content-Type: application/json.")
        case .text(.tooLong(let bytes)):
            Problem(
                400, "task.too_long", "The text is too long",
                "It has \(bytes) bytes; \(TaskText.longest) are the most. Shorten it.")
        case .text(.containsNUL):
            Problem(
                400, "task.nul", "A text contains U+0000", "Leave the character U+0000 out of every name and value.")
        case .malformedJSON(let offset):
            Problem(
                400, "request.json", "The body is not JSON that can be used",
                "Send one JSON object in UTF-8" + (offset.map { "; reading failed at byte \($0)." } ?? "."))
        case .malformedForm:
            Self.form("Send the fields as application/x-www-form-urlencoded or multipart/form-data, well formed.")
        case .tooManyFormFields:
            Self.form(
                "Send at most \(FormURLEncoded.mostFields) fields as application/x-www-form-urlencoded, "
                    + "or \(MultipartForm.mostParts) as multipart/form-data.")
        case .unsupportedMediaType:
            Self.mediaType("Send application/json, application/x-www-form-urlencoded or multipart/form-data")
        case .field(let name, let expected):
            Problem(400, "request.field", "A field cannot be used", "\(name) must be \(expected).")
        case .contradiction(let value):
            Problem(
                400, "request.field", "A field cannot be used",
                value == .text
                    ? "task must be the same as Text, or one of the two as stored; send one of the two."
                    : "completed must be the same as Completed, or one of the two as stored; send one of the two.")
        case .detail(let name, let expected):
            Problem(422, "task.detail", "A detail of the task cannot be used", "\(name) must be \(expected).")
        case .argument(let name, let expected):
            Problem(400, "request.query", "A query argument cannot be used", "\(name) must be \(expected).")
        case .malformedChanges(let offset):
            Problem(
                400, "request.changes", "The list of changes cannot be used",
                "Send a JSON array of 1 to \(ChangeList.most) objects, each with the id of another task"
                    + (offset.map { "; reading failed at byte \($0)." } ?? "."))
        case .change(let number, let failure): failure.problem.ofChange(number)
        case .changesMediaType: Self.mediaType("Send the list of changes as application/json")
        case .contentCoding:
            Problem(
                415, "request.content_coding", "The body is compressed",
                "This server reads no Content-Encoding but identity; send the body as it is, without that header.",
                headers: ["Accept-Encoding": "identity"])
        case .malformedIdempotencyKey:
            Problem(
                400, "request.idempotency_key", "The Idempotency-Key is malformed",
                "Send one Idempotency-Key of 1 to 255 printable ASCII characters, such as a UUID; spaces only inside."
            )
        case .idempotencyKeyReused:
            Problem(
                422, "request.idempotency_key_reused", "The Idempotency-Key was used before",
                "This key belongs to another task; use a new key for each task, the same only for a retry.")
        }
    }

    private static func form(_ advice: String) -> Problem {
        Problem(400, "request.form", "The body is not a form that can be read", advice)
    }

    private static func mediaType(_ advice: String) -> Problem {
        Problem(415, "request.media_type", "Unsupported content type", "\(advice), and say so in Content-Type.")
    }
}

extension Problem {
    /// The same problem, for one change of a list.
    fileprivate func ofChange(_ number: Int) -> Problem {
        var problem = self
        problem.detail = "Nothing was changed, for change \(number) of the list: \(detail)"
        return problem
    }
}
