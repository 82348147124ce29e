import Basics
import CMicroHTTPD
import HTTP
import Synchronization

/// A connection, with its request under way, of which there is at most one.
///
/// - A lock guards ``lifecycle``. A thread that holds it may take libmicrohttpd's locks, to suspend or resume the
///   connection. So no thread may take it with the lock of ``ServerCore/connections`` held, which callbacks take while
///   libmicrohttpd may hold its own.
/// - Plain variables belong to the event loop of the connection; two belong to the thread that enforces deadlines.
/// - Every thread reads atomics. ``publishedPhase`` repeats the facts of the lifecycle that the enforcing thread
///   needs, because that thread looks at all connections with the lock of ``ServerCore/connections`` held.
///
/// It is unchecked, because the compiler cannot know that libmicrohttpd calls for one connection from one loop only.
@safe
final class ClientConnection: @unchecked Sendable {
    let core: ServerCore
    let handle: OpaquePointer
    let socket: Int32
    let peer: String
    let address: IPAddress
    /// Whether the peer is a proxy whose statements about its clients are trusted.
    let isTrusted: Bool
    let openedAt: UInt64
    private let number: UInt64

    let lifecycle: Mutex<RequestLifecycle>
    let publishedPhase: PublishedPhase
    let requests = Atomic<Int>(0)
    /// Whether the socket was shut down because a deadline has passed, the peer has disconnected or the server stops.
    let isShutDown = Atomic<Bool>(false)

    // These variables belong to the loop.
    var rawTarget = ""
    /// The bytes of the target as it came, also if it is not UTF-8.
    var targetSize = 0
    /// The place of the target in the library's buffer, until the head is there.
    var rawTargetStart: UnsafePointer<CChar>?
    var head: RequestHead?
    var body: [UInt8] = []
    /// The response that is being sent, whose content the library reads and all clients of a list share.
    ///
    /// It is nil between requests, because the library reports the end of a request after its last use of the content.
    var sent: Response?
    var isChunked = false
    /// The address at which the library reads the body, or one a little before; 0 if the address is not certain.
    var bodyBuffer: UInt = 0
    private(set) var requestStart: UInt64
    /// The task of the handler that waits; other threads read it while they hold the lock and a handler is suspended.
    var handlerTask: Task<Void, Never>?
    /// The client whose request is under way, if a trusted proxy passed it on.
    var client: IPAddress?

    // These variables belong to the enforcing thread.
    /// The stamp of the published phase at the time at which the peer was seen to have closed its half.
    var halfClosedStamp: UInt64 = 0
    var downloadRate: DownloadRate?

    init(core: ServerCore, handle: OpaquePointer) {
        self.core = core
        unsafe self.handle = handle
        socket = unsafe CMicroHTTPD_socket(handle)
        peer = unsafe text(of: CMicroHTTPD_peer(handle))
        address = unsafe IPAddress(of: CMicroHTTPD_peer(handle))
        isTrusted = core.limits.isTrusted(address)
        openedAt = coarseNanoseconds()
        requestStart = openedAt
        number = UInt64(core.opened.wrappingAdd(1, ordering: .relaxed).newValue)
        lifecycle = Mutex(RequestLifecycle(drainLimit: core.limits.drainedBody))
        publishedPhase = PublishedPhase(until: openedAt &+ core.times.header)
    }

    /// Begins a request, of which the first line has arrived.
    func beginRequest(target: String, size: Int, hasZeroByte: Bool) {
        requests.store(requests.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        rawTarget = target
        targetSize = size
        requestStart = coarseNanoseconds()
        _ = apply(.requestLine)
        // The request is refused here, before the library looks for arguments after the zero byte.
        if hasZeroByte { _ = unsafe advance(apply(.requestLineRefused(refusal(of: .target))), nil) }
    }

    /// Ends a request, whether it was answered or not.
    func endRequest() {
        if case .forget(let state) = apply(.completed), let job = state.pendingJob { run(job) }
        head = nil
        handlerTask = nil
        forgetClient()
        if !body.isEmpty { body = [] }
        sent = nil
    }

    /// The identifier of the request under way: 16 hexadecimal digits, without a counter that loops share.
    var identifier: String {
        let count = UInt64(truncatingIfNeeded: requests.load(ordering: .relaxed))
        return (core.firstIdentifier &+ (number << 20) &+ count).hexadecimal
    }

    /// When the whole request must be over.
    var requestEnd: UInt64 { requestStart &+ core.times.request }

    /// Whether the response under way is the last one of the connection.
    var isLast: Bool {
        requests.load(ordering: .relaxed) >= core.limits.requestsPerConnection
            || core.closesAfterAnswers.load(ordering: .relaxed)
            || requestStart &- openedAt >= core.times.connection
    }

    /// Returns the server's own response to a fault.
    func refusal(of fault: HTTPFault) -> Response { core.refusal(fault, head) }
}
