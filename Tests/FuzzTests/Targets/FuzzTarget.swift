/// What is fuzzed: each target takes any bytes, hands them to entry points of the project, and checks what must hold.
///
/// The same functions run under libFuzzer (`make fuzz`) and, once for each input of `Corpus`, as a test.
enum FuzzTarget: String, CaseIterable, Sendable {
    /// Compact tokens, their headers and claims.
    case tokens
    /// The reader and the writer of JSON.
    case json
    /// Request targets, their queries, and routes.
    case targets
    /// Values of header fields.
    case fields
    /// Bodies of requests: forms, multipart, JSON.
    case bodies
    /// Key sets, provider metadata, the file of cached keys.
    case keys
    /// Lines of an export.
    case archive
    /// Tasks as the API writes them, and their times.
    case tasks
    /// Values of settings.
    case settings
    /// Whole requests to the API.
    case api
    /// Whole requests to the mock authority.
    case mock
    /// The configuration file of the mock authority.
    case configuration

    /// Runs one input.
    ///
    /// - Throws: ``BrokenInvariant``.
    func check(_ input: [UInt8]) throws {
        switch self {
        case .tokens: try checkTokens(input)
        case .json: try checkJSON(input)
        case .targets: try checkTargets(input)
        case .fields: try checkFields(input)
        case .bodies: try checkBodies(input)
        case .keys: try checkKeys(input)
        case .archive: try checkArchive(input)
        case .tasks: try checkTasks(input)
        case .settings: try checkSettings(input)
        case .api: try checkAPI(input)
        case .mock: try checkMock(input)
        case .configuration: try checkConfiguration(input)
        }
    }
}

/// Something that must hold did not.
struct BrokenInvariant: Error, CustomStringConvertible {
    let description: String
}

/// Checks something that must hold for every input.
func require(_ holds: Bool, _ rule: @autoclosure () -> String) throws {
    guard holds else { throw BrokenInvariant(description: "does not hold: \(rule())") }
}

/// Every byte as an escape of a URL.
func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { text, byte in
        let digits = String(byte, radix: 16)
        text += byte < 16 ? "%0\(digits)" : "%\(digits)"
    }
}

extension [UInt8] {
    /// The bytes as text, broken ones replaced.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The pieces between lines of `~~~`: how one input holds several documents or requests.
    var pieces: [[UInt8]] {
        var pieces: [[UInt8]] = []
        var lines: [UInt8] = []
        for line in split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.elementsEqual("~~~".utf8) {
                pieces.append(lines)
                lines = []
            } else {
                lines.append(contentsOf: line)
                lines.append(UInt8(ascii: "\n"))
            }
        }
        if !lines.isEmpty { lines.removeLast() }
        return pieces + [lines]
    }
}
