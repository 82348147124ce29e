import Glibc
import HTTP
import Support
import Synchronization
import Testing

/// A handler whose paths are the ways in which a handler can behave.
final class EchoHandler: RequestHandler {
    /// The ends of the waits of requests under `/wait` and its like.
    let waiting = Mutex<[@Sendable () -> Void]>([])
    /// Whether nothing waits any more.
    private let isOpen = Atomic<Bool>(false)

    /// How many handlers began under `/wait`.
    let begun = Atomic<Int>(0)
    /// How many handlers under `/wait` were cancelled when they ended.
    let cancelled = Atomic<Int>(0)
    /// On which thread each handler under `/wait` began, and on which it continued.
    let threads = Mutex<[(began: pthread_t, continued: pthread_t)]>([])

    /// How often it was asked.
    let asked = Atomic<Int>(0)

    func decide(on head: RequestHead) -> Decision {
        asked.add(1, ordering: .relaxed)
        switch head.target.path.first {
        case "wait":
            let began = pthread_self()
            let isCancelled = Flag()
            return .wait { [self] resume in
                begun.add(1, ordering: .relaxed)
                wait {
                    resume { [self] in
                        threads.withLock { $0.append((began, pthread_self())) }
                        if isCancelled.isSet { cancelled.add(1, ordering: .relaxed) }
                        return .respond(describe(head))
                    }
                }
                return { isCancelled.set() }
            }
        case "wait-then-read": return waiting { .readBody(limit: 1000) { .respond(Response(200, body: $0)) } }
        case "wait-then-refuse": return waiting { .respond(Response(401, body: Array("no".utf8))) }
        case "wait-forever": return waitingForever(head)
        case "read": return .readBody(limit: 1000) { .respond(Response(200, body: $0)) }
        case "read-then-wait":
            return .readBody(limit: 1000) { [self] body in waiting { .respond(Response(201, body: body)) } }
        case "peer": return .respond(Response(200, body: Array(head.peer.utf8)))
        case "refuse": return .respond(Response(401, body: Array("no".utf8)))
        case "status": return .respond(Response(Status(rawValue: Int(head.target.path[1]) ?? 0), body: Array("x".utf8)))
        default: return .respond(describe(head))
        }
    }

    private func waiting(_ decide: @escaping @Sendable () -> Decision) -> Decision {
        .wait { [self] resume in
            wait { resume(decide) }
            return {}
        }
    }

    private func waitingForever(_ head: RequestHead) -> Decision {
        waiting { [self] in isOpen.load(ordering: .relaxed) ? .respond(describe(head)) : waitingForever(head) }
    }

    private func wait(_ end: @escaping @Sendable () -> Void) {
        let waits = waiting.withLock { waiting in
            guard !isOpen.load(ordering: .relaxed) else { return false }
            waiting.append(end)
            return true
        }
        if !waits { end() }
    }

    /// Lets all that wait continue.
    func release() {
        let ends = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for end in ends { end() }
    }

    /// Lets all that wait continue, and all that would wait from now on: at the end of a test whose requests may still
    /// come.
    ///
    /// A wait that never ends keeps the server that its handler belongs to.
    func releaseForGood() {
        waiting.withLock { _ in isOpen.store(true, ordering: .relaxed) }
        release()
    }

    private func describe(_ head: RequestHead) -> Response {
        let lines = head.headers.fields.map { "\($0.name)=\($0.value)" }
        let target = head.target
        let text = "\(head.method.name) \(target.path) \(target.query.map { "\($0.name)=\($0.value)" })\n"
        return Response(
            200, headers: ["Content-Type": "text/plain", "X-Request-Id": head.identifier],
            body: Array((text + lines.joined(separator: "\n")).utf8))
    }
}

/// A handler whose answers are that long.
struct BigHandler: RequestHandler {
    let length: Int

    func decide(on head: RequestHead) -> Decision {
        .respond(Response(200, body: [UInt8](repeating: 0x78, count: length)))
    }
}
