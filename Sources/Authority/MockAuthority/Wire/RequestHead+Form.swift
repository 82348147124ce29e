import HTTP

extension RequestHead {
    /// The longest body that is read, in bytes.
    static let longestBody = 65536

    /// Reads the form of the body and answers it.
    func answerForm(_ answer: @escaping @Sendable (Parameters) async -> Response) -> Decision {
        let type = contentType
        return .answerBody(limit: Self.longestBody) { body in await answer(Parameters(body: body, type: type)) }
    }
}
