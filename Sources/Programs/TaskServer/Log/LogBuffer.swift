import Synchronization

/// Lines that wait to be written: of one event loop, or of the few threads that share its number.
///
/// So the loops do not wait for each other's lines, and a line is formatted where it waits.
final class LogBuffer: Sendable {
    private struct State: ~Copyable, Sendable {
        var lines: LogText
        var dropped = 0
    }

    /// What became of a line.
    enum Outcome { case first, waiting, dropped }

    /// How much may wait for the reader, in bytes.
    private static let most = 1 << 19
    /// Memory that is kept for the next lines, in bytes: about those that gather until they are written.
    private static let room = 1 << 16

    private let state: Mutex<State>

    init(_ format: LogText.Format) {
        state = Mutex(State(lines: LogText(format)))
    }

    /// Adds a line; `fields` adds to it, and must not log.
    func add(
        _ level: LogLevel, _ event: StaticString, at milliseconds: Int64, _ fields: (inout LogText) -> Void
    ) -> Outcome {
        state.withLock { state in
            let before = state.lines.size
            guard before < Self.most else {
                state.dropped += 1
                return .dropped
            }
            state.lines.begin(level, event, at: milliseconds)
            fields(&state.lines)
            state.lines.end()
            return before == 0 ? .first : .waiting
        }
    }

    /// Moves the lines to the end of an array: how many were dropped since the last time.
    func drain(to lines: inout [UInt8]) -> Int {
        state.withLock { state in
            state.lines.drain(to: &lines, keeping: Self.room)
            defer { state.dropped = 0 }
            return state.dropped
        }
    }
}
