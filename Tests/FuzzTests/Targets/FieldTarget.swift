import Basics
@testable import HTTP
import Support
@testable import TaskAPI
import Tasks

/// Values of header fields, each read by everything that reads one.
func checkFields(_ input: [UInt8]) throws {
    let value = input.text
    try checkEntityTags(value)
    try checkMediaType(value)
    try checkIdentifiers(value)
    try checkCredentials(value)
    let lines = value.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let headers = HeaderSection(lines.map { HeaderSection.Field(name: "Accept", value: $0) })
    if headers.preferJSON {
        let isNamed = value.beginsAnywhere("application/") || value.beginsAnywhere("text/")
        try require(isNamed, "JSON is preferred where it was named, or text was")
    }
    if let seconds = Int64(value) {
        try require(HTTPDate.text(unixSeconds: seconds).hasSuffix(" GMT"), "every moment has a date")
    }
}

private func checkEntityTags(_ value: String) throws {
    let (tag, other) = ("\"a\"", "\"b\"")
    if HeaderSection([.init(name: "If-None-Match", value: value)]).ifNoneMatch(tag) {
        try require(value.contains(tag) || value.contains("*"), "a tag that matches is in the field")
        let longer = HeaderSection([.init(name: "If-None-Match", value: "\(value),\(other)")])
        try require(value.contains("*") || longer.ifNoneMatch(tag) && longer.ifNoneMatch(other), "a list may go on")
    }
    for revision in TaskItem.revisions(ifMatch: value, of: 7) ?? [] {
        try require(revision > 0 && value.contains("\"7.\(revision)"), "a revision is in the field")
    }
}

private func checkMediaType(_ value: String) throws {
    let parameters = FieldParameters(value.utf8)
    let size = parameters.parameters.reduce(parameters.value.utf8.count) { $0 + $1.name.utf8.count }
    try require(size <= 2 * value.utf8.count, "parameters are not longer than what they were read from")
    guard let type = MediaType(value) else { return }
    try require(type.name.utf8.count { $0 == UInt8(ascii: "/") } == 1, "a type has a subtype")
    try require(type.name.utf8.allSatisfy { $0 == $0.lowercasedASCII }, "a type is in lower case")
    try require(MediaType(type.name)?.name == type.name, "a type is read as it was written")
}

private func checkIdentifiers(_ value: String) throws {
    if let trace = CorrelationIdentifier.trace(value) {
        try require(trace.utf8.count == 32 && trace.utf8.allSatisfy(isHexadecimal), "a trace id is hexadecimal")
    }
    if let cleaned = CorrelationIdentifier.cleaned(value) {
        let isPlain = cleaned.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
        try require(isPlain && cleaned.utf8.count <= 64, "what a log shows of a client's id is plain")
    }
}

private func isHexadecimal(_ byte: UInt8) -> Bool { "0123456789abcdef".utf8.contains(byte) }

private func checkCredentials(_ value: String) throws {
    let target = RequestTarget(raw: "/api/tasks", absolutePath: "/api/tasks")
    let head = RequestHead(method: .get, target: target, headers: ["Authorization": value])
    guard case .token(let token) = BearerCredentials(of: head, allowQuery: true) else { return }
    try require(!token.isEmpty && value.utf8.count > token.count, "a token follows its scheme")
    if BearerCredentials.isWellFormed(token) {
        try require(token.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token is of ASCII letters")
    }
}

extension String {
    /// Whether the text, without case, is in this one.
    fileprivate func beginsAnywhere(_ text: String) -> Bool { lowercased().contains(text) }
}
