import Basics
import HTTP
import Tasks
import Tokens

/// Everything that the API refuses, with tables of problems in which no byte of a request occurs (V-117).
///
/// A code is never changed, and never used again for something else. `Public/problems.html` explains each.
enum APIFailure: Error {
    case credentials(CredentialFailure)
    case input(InputFailure)
    case state(StateFailure)
    /// No route and no file has this path.
    case nothingHere
    /// The path has other methods (V-147).
    case methodNotAllowed([Method])

    var problem: Problem {
        switch self {
        case .credentials(let failure): failure.problem
        case .input(let failure): failure.problem
        case .state(let failure): failure.problem
        case .nothingHere:
            Problem(
                404, "request.path", "Nothing here", "The tasks are at /api/tasks; /openapi.yaml lists everything.")
        case .methodNotAllowed(let methods):
            Problem(
                405, "request.method", "Method not allowed", "Possible here: \(Self.list(methods)).",
                headers: ["Allow": Self.list(methods + [.options])])
        }
    }

    /// The reason why the token was refused, if it was.
    var tokenRefusal: TokenRefusal? {
        guard case .credentials(.token(let refusal)) = self else { return nil }
        return refusal
    }

    private static func list(_ methods: [Method]) -> String {
        methods.map(\.name).joined(separator: ", ")
    }
}

/// Why a request is refused for its credentials (RFC 6750 section 3, V-01 to V-63).
enum CredentialFailure: Error {
    case missing
    /// The token is in the query, where the settings do not allow it.
    case inQuery
    case malformed
    case token(TokenRefusal)
    case missingScope(String)
    case tooManyRequests(retryAfter: Int)

    var problem: Problem {
        switch self {
        case .missing: Self.missingToken
        case .inQuery:
            Problem(
                401, "auth.missing", "No token",
                "Send the token as a header, Authorization: Bearer <token>; this server takes none in the query.",
                headers: Self.challenge())
        case .malformed:
            Problem(
                400, "request.credentials", "The credentials are malformed",
                "Send one Authorization field with one token: Authorization: Bearer <token>.",
                headers: Self.challenge("error=\"invalid_request\""))
        case .token(let refusal):
            Self.problem(of: refusal.outcome)
        case .missingScope(let scope):
            Self.problem(ofMissing: scope)
        case .tooManyRequests(let seconds):
            Problem(
                429, "request.rate", "Too many requests", "Wait \(seconds) s before the next request.",
                headers: ["Retry-After": String(seconds)])
        }
    }

    /// Returns the same problem for every bad token, so that attackers learn nothing, except for an expired token,
    /// which clients then refresh, and for one that is too long, with which nothing else would help (V-63).
    private static func problem(of outcome: TokenRefusal.Outcome) -> Problem {
        switch outcome {
        case .invalid: invalidToken
        case .expired: expiredToken
        case .tooLong: longToken
        case .insufficientScope(let scopes): problem(ofMissing: scopes)
        case .unavailable(let seconds):
            Problem(
                503, "keys.unavailable", "Tokens cannot be checked now",
                "The keys of the authority are not available; try again shortly.",
                headers: ["Retry-After": String(seconds)])
        }
    }

    // These answers are made once, since a flood of requests gets them.
    private static let missingToken = Problem(
        401, "auth.missing", "No token", "Send a token: Authorization: Bearer <token>.", headers: challenge()
    ).prepared()
    private static let invalidToken = Problem(
        401, "token.invalid", "The access token is invalid", "Sign in again, and send the new token.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token is invalid\"")
    ).prepared()
    private static let expiredToken = Problem(
        401, "token.expired", "The access token expired", "Refresh the token or sign in again, and send the new one.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token expired\"")
    ).prepared()

    private static let longToken = Problem(
        401, "token.too_long", "The access token is too long",
        "A new token would be as long. Ask the operator to have fewer groups or claims put into tokens of up to 16 KiB.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token is too long\"")
    ).prepared()

    private static func problem(ofMissing scope: String) -> Problem {
        Problem(
            403, "token.scope", "The token does not allow this",
            "Ask the authority for a token with the scope \(scope), and send that.",
            headers: challenge("error=\"insufficient_scope\", scope=\"\(scope)\""))
    }

    private static func challenge(_ parameters: String = "") -> FieldLines {
        ["WWW-Authenticate": parameters.isEmpty ? "Bearer realm=\"tasks\"" : "Bearer realm=\"tasks\", \(parameters)"]
    }
}

extension TokenRefusal {
    /// The code of the problem that a client gets for it; `/problems.html` explains it.
    package var problemCode: String { CredentialFailure.token(self).problem.code }
}

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
    /// A change contradicts itself or its task.
    case contradiction(TaskChange.Contradiction)
    case detail(name: String, expected: String)
    case argument(name: String, expected: String)
    /// A request to delete has an argument that it does not know, or selects tasks in two ways.
    case unclearDeletion
    /// A request to delete everything does not say `Confirm-Delete: yes`.
    case unconfirmedDeletion
    /// Not a list of changes; JSON that is malformed at this byte, if it is known.
    case malformedChanges(offset: Int?)
    /// A failure of one change in a list, counted from 1.
    indirect case change(number: Int, InputFailure)
    case malformedIdempotencyKey
    case idempotencyKeyReused

    var problem: Problem {
        switch self {
        case .missingText(looksLikeJSON: false), .text(.empty):
            // Status and code of the sample servers (docs/internals/clients.md, "Errors").
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
        case .field(let name, let expected): Self.field(name, expected)
        case .contradiction(.text):
            Self.field("task", "the same as Text, or one of the two as stored; send one of the two")
        case .contradiction(.completed):
            Self.field("completed", "the same as Completed, or one of the two as stored; send one of the two")
        case .contradiction(.repeatWithoutDue):
            Self.detail("repeat", "beside a due, the day from which it counts; remove or send both")
        case .contradiction(.repeatOfFinished):
            Self.detail("repeat", "that of an open task; open this one again, or leave repeat out")
        case .detail(let name, let expected): Self.detail(name, expected)
        case .argument(let name, let expected):
            Problem(400, "request.query", "A query argument cannot be used", "\(name) must be \(expected).")
        case .unclearDeletion:
            Problem(
                400, "request.query", "A query argument cannot be used",
                "Nothing was deleted. Delete one task by its id and without an argument, or of /api/tasks either those "
                    + "that are done (completed=true, no body) or those with one text (task=...). "
                    + "DELETE /api/me deletes everything.")
        case .unconfirmedDeletion:
            Problem(
                428, "account.unconfirmed", "Nothing was deleted yet",
                "This deletes all of your tasks for good. Send the request again with the header Confirm-Delete: yes.")
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

    private static func field(_ name: String, _ expected: String) -> Problem {
        Problem(400, "request.field", "A field cannot be used", "\(name) must be \(expected).")
    }

    private static func detail(_ name: String, _ expected: String) -> Problem {
        Problem(422, "task.detail", "A detail of the task cannot be used", "\(name) must be \(expected).")
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

/// Why a valid request cannot be done in the present state.
enum StateFailure: Error {
    /// The task does not exist, or belongs to another person. Both get the same answer.
    case noSuchTask
    /// Of a list of changes: tasks of these ids do not exist, or belong to another person.
    case noSuchTasks([Int64])
    case tooManyTasks(limit: Int)
    /// `If-Match` names another state.
    case changedMeanwhile
    /// Of a list of changes: tasks of these ids are in another state than `ifMatch` names.
    case tasksChangedMeanwhile([Int64])
    /// The point of a question for changes is too old, or of another list of the same person.
    case changesForgotten
    /// The person has as many streams of changes as one may have.
    case tooManyStreams(limit: Int)
    /// The server has as many streams of changes as it may have.
    case streamsFull
    case store(StoreError)

    var problem: Problem {
        switch self {
        case .noSuchTask:
            Problem(404, "task.not_found", "No such task", "You have no task with this id; GET /api/tasks lists yours.")
        case .noSuchTasks(let ids):
            Problem(
                404, "task.not_found", "No such task",
                "Nothing was changed, because you have no tasks with the ids in ids; GET /api/tasks lists yours.",
                identifiers: ids)
        case .tooManyTasks(let limit):
            Problem(
                409, "task.too_many", "Too many tasks",
                "You have \(limit.counted("task")), the most that one person may have; delete some first.")
        case .changedMeanwhile:
            Problem(
                412, "task.changed", "The task was changed meanwhile",
                "It is not in the state that If-Match names; GET it again, and change that.")
        case .tasksChangedMeanwhile(let ids):
            Problem(
                412, "task.changed", "The task was changed meanwhile",
                "Nothing was changed, because the tasks with the ids in ids are not in the state that their ifMatch names; "
                    + "GET them again, and change that.", identifiers: ids)
        case .changesForgotten:
            Problem(
                410, "changes.forgotten", "The changes since then are no longer known",
                "Ask again without since; that answers the whole list, which replaces what you have.")
        case .tooManyStreams(let limit):
            Problem(
                429, "stream.too_many", "Too many streams",
                "You have \(limit.counted("stream")) of changes open, the most that one person may have; close one, or ask "
                    + "without Accept: text/event-stream.", headers: ["Retry-After": "30"])
        case .streamsFull:
            Problem(
                503, "stream.full", "No more streams",
                "The server has as many streams of changes as it may have; ask without Accept: text/event-stream meanwhile.",
                headers: ["Retry-After": "30"])
        case .store(let error):
            Self.problem(of: error)
        }
    }

    private static func problem(of error: StoreError) -> Problem {
        switch error {
        case .overloaded, .withdrawn:
            Problem(
                503, "store.overloaded", "Too busy", "Too many changes wait at the moment; try again shortly.",
                headers: ["Retry-After": "1"])
        case .noRoomForAnswer:
            Problem(
                503, "list.no_room", "Too many long lists are being sent",
                "Read the lists that you asked for to their end, or ask for less with ?limit=; try again shortly.",
                headers: ["Retry-After": "5"])
        case .unavailable:
            Problem(
                503, "store.unavailable", "The store cannot be reached",
                "A change may have been made or not; try again shortly, with the same Idempotency-Key.",
                headers: ["Retry-After": "5"])
        case .ownerDeleted:
            Problem(
                403, "account.deleted", "The account was deleted",
                "Its tasks are gone, and this token is from before. Sign in again to begin with an empty list.")
        case .full:
            Problem(
                507, "store.full", "The disk is full",
                "Nothing was added or changed, but a deletion may have removed a part; the server's operator must make "
                    + "room. Then send it again.")
        case .broken:
            Problem(
                500, "store.broken", "The store failed",
                "Try again; if it fails again, give the server's operator the request id.")
        }
    }
}
