internal import Basics
internal import CMicroHTTPD
internal import HTTP
internal import Synchronization

/// A connection, and the request that is under way on it: there is at most one, so it needs no object of its own.
///
/// Unchecked, because the compiler cannot know that libmicrohttpd calls for one connection from one loop only: plain
/// variables are the loop's, one is the reaper's. What other threads touch is atomic or behind the lock of the meeting.
@safe
final class ClientConnection: @unchecked Sendable {
    let core: ServerCore
    let handle: OpaquePointer
    let socket: Int32
    let peer: String
    let address: IPAddress
    /// Whether the peer is a proxy whose word about its clients is believed.
    let isTrusted: Bool
    let openedAt: UInt64
    private let number: UInt64

    // The loop's.
    var step = Step.idle
    var rawTarget = ""
    /// Bytes of the target as it came, also where it is no UTF-8.
    var targetSize = 0
    var head: RequestHead?
    var expectedBody = HeadIntake.Body.none
    var body: [UInt8] = []
    /// Where the library reads the body of the request into, right after its head; 0 where that is not certain.
    var bodyBuffer: UInt = 0
    /// When the handler must be done with the head or with the body, once it has begun to wait for something.
    var waitEnd: UInt64?
    private var requestStart: UInt64
    /// Whose request is under way, if a trusted proxy passed it on.
    var client: IPAddress?

    // The reaper's.
    /// The stamp of the clock when the peer was seen to have closed its half.
    var suspicion: UInt64 = 0

    // The reaper's.
    var pace: ReadingPace?

    // Everybody's.
    let meeting = Mutex(Meeting())
    let clock: PhaseClock
    let requests = Atomic<Int>(0)
    let isCut = Atomic<Bool>(false)

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
        clock = PhaseClock(until: openedAt &+ core.limits.headerSeconds.nanoseconds)
    }

    /// A request begins: its first line is in.
    func begin(target: String, size: Int) {
        let count = requests.load(ordering: .relaxed) &+ 1
        requests.store(count, ordering: .relaxed)
        rawTarget = target
        targetSize = size
        step = .head
        waitEnd = nil
        requestStart = coarseNanoseconds()
        // The first header block has had its time since the connection was opened.
        if count > 1 { clock.enter(.header, until: requestStart &+ core.limits.headerSeconds.nanoseconds) }
    }

    /// A request is over, answered or not.
    func end() {
        if case .waiting = step { leaveHandler() }
        step = .idle
        head = nil
        forgetClient()
        if !body.isEmpty { body = [] }
        let now = coarseNanoseconds()
        let limits = core.limits
        let end = openedAt &+ limits.connectionSeconds.nanoseconds
        clock.enter(.idle, until: min(now &+ limits.idleSeconds.nanoseconds, end))
    }

    /// The identifier of the request under way: 16 hexadecimal digits, without a counter that loops share.
    var identifier: String {
        let count = UInt64(truncatingIfNeeded: requests.load(ordering: .relaxed))
        return (core.firstIdentifier &+ (number << 20) &+ count).hexadecimal
    }

    /// When the whole request must be over.
    var requestEnd: UInt64 { requestStart &+ core.limits.requestSeconds.nanoseconds }

    /// Whether the answer under way is the last one of the connection.
    var isLast: Bool {
        requests.load(ordering: .relaxed) >= core.limits.requestsPerConnection
            || core.isStopping.load(ordering: .relaxed)
            || requestStart &- openedAt >= core.limits.connectionSeconds.nanoseconds
    }
}

extension ClientConnection {
    /// What the request under way needs next.
    enum Step {
        /// There is no request.
        case idle
        /// The first line is in.
        case head
        /// The head is in, and nothing follows; the handler is asked in the next call, which may answer and go on.
        case undecided
        /// The answer is known, to be given when the request is in.
        case ready(Response)
        /// The handler has the request.
        case waiting
        /// The body is gathered for the handler.
        case gathering(limit: Int, @Sendable ([UInt8]) -> Decision)
        /// The body is dropped, at most this much more of it; then comes the answer.
        case draining(Response, left: Int)
        /// The answer was given in the middle of the body; the rest is dropped, then the connection.
        case discarding(left: Int)
        /// The answer is on its way.
        case answered
    }
}

extension UInt64 {
    /// 16 hexadecimal digits.
    fileprivate var hexadecimal: String {
        unsafe String(unsafeUninitializedCapacity: 16) { buffer in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * place)) & 15
                unsafe buffer[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 16
        }
    }
}
