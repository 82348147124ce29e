@testable import HTTP
import Support
@testable import TaskAPI
import Tasks

/// The first line is a media type, the rest a body of it.
func checkBodies(_ input: [UInt8]) throws {
    let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
    let type = String(decoding: input[..<end], as: UTF8.self)
    let body = Array(input[end...].dropFirst())
    try checkForm(body)
    if let boundary = MediaType(type)?.boundary { try checkMultipart(body, boundary) }
    try checkInput(body, type)
}

private func checkForm(_ body: [UInt8]) throws {
    guard let form = try? FormURLEncoded.parse(body) else { return }
    let written = form.fields.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
    let again = try? FormURLEncoded.parse(Array(written.utf8))
    let isSame = again?.fields.elementsEqual(form.fields) {
        $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
    }
    try require(isSame ?? false, "a form means the same when it is written again")
}

private func checkMultipart(_ body: [UInt8], _ boundary: String) throws {
    guard let form = try? MultipartForm.parse(body, boundary: boundary) else { return }
    try require(form.parts.count <= 64, "the number of parts is limited")
    let size = form.parts.reduce(0) { $0 + $1.value.count + $1.name.utf8.count / 2 }
    try require(size <= body.count, "parts are not longer than the body")
    let delimiter = Array("\r\n--\(boundary)".utf8)
    for part in form.parts {
        try require(!part.value.contains(delimiter), "a value ends before the next delimiter")
    }
}

private func checkInput(_ body: [UInt8], _ type: String) throws {
    let target = RequestTarget(raw: "/api/tasks", absolutePath: "/api/tasks")
    let headers: HeaderSection = type.isEmpty ? [:] : ["Content-Type": type]
    let head = RequestHead(method: .post, target: target, headers: headers)
    guard let input = try? TaskInput(body: body, head: head) else { return }
    let text = try? input.text()
    let change = try? input.change(at: 0)
    let agreed = change?.text
    if let change, change.oldNames == nil {
        if let agreed { try require(agreed == text, "the text that all fields agree on is the first") }
        if let completed = change.completed { try require(completed == input.completed(), "so is the truth value") }
    }
    for text in [text, agreed].compactMap({ $0 }) {
        try require((1...TaskText.longest).contains(text.value.utf8.count), "a text has 1 to 4096 bytes")
        try require(!text.value.utf8.contains(0), "a text holds no NUL")
    }
}
