import Basics
import HTTP

/// The parameters of a request: those of a body, then those of the query.
struct Parameters: Sendable, Equatable {
    private(set) var all: [RequestTarget.Argument]

    init(_ all: [RequestTarget.Argument] = []) {
        self.all = all
    }

    /// The first value of a name; an empty one is as good as none (NXOAuth2 sends `client_secret=`).
    subscript(name: String) -> String? {
        all.first { $0.name.isSame(as: name) && !$0.value.isEmpty }?.value
    }

    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else { throw Refusal(.missingParameter, name) }
        return value
    }

    func values(_ name: String) -> [String] { all.filter { $0.name.isSame(as: name) }.map(\.value) }

    func followed(by others: [RequestTarget.Argument]) -> Parameters { Parameters(all + others) }
}

extension Parameters {
    /// The fields of an urlencoded body; a malformed one has none.
    init(urlEncoded body: [UInt8]) {
        all = (try? FormURLEncoded.parse(body).fields) ?? []
    }

    /// The fields of a body of this type; without a type it is urlencoded, a malformed one has none.
    init(body: [UInt8], type: MediaType?) {
        guard type?.name == "multipart/form-data", let boundary = type?.boundary else {
            self.init(urlEncoded: body)
            return
        }
        let parts = (try? MultipartForm.parse(body, boundary: boundary).parts) ?? []
        self.init(parts.map { RequestTarget.Argument(name: $0.name, value: $0.text) })
    }
}

extension RequestHead {
    /// The longest body that is read, in bytes.
    static let longestBody = 65536

    func answerForm(_ answer: @escaping @Sendable (Parameters) async -> Response) -> Decision {
        let type = contentType
        return .answerBody(limit: Self.longestBody) { body in await answer(Parameters(body: body, type: type)) }
    }
}
