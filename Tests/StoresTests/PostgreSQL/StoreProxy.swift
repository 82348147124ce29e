import Glibc
import Platform
import Support
import Synchronization

/// A proxy before a database server, whose connections can be cut at any byte.
final class StoreProxy: Sendable {
    /// What happens to connections from now on.
    enum Fault: Sendable, Equatable {
        case none
        /// Both sides are cut when this many more bytes went to the server, or came from it.
        case cut(bytes: Int, ofRequests: Bool)
        /// The next answer ends after its last result, where the server would say that it is ready: with the message of
        /// a server that stops, or with nothing.
        case endBeforeReady(saying: Bool)
        /// The next answer says that a COMMIT has rolled back, as a server says of a transaction that had failed.
        case rollBackForCommit
        /// Existing connections stay open, and nothing is passed on any more; new ones are served.
        case silent
        /// The connection that sends the next ROLLBACK stays open, and nothing is passed on there any more.
        case silentAtRollBack
        /// New connections are refused, and existing ones are cut.
        case down
    }

    private struct State {
        var fault = Fault.none
        var isOver = false
        var pairs: [(Int32, Int32)] = []
        /// Those that pass nothing on, until the proxy ends.
        var silent: [(Int32, Int32)] = []
    }

    let port: Int
    private let serverPort: Int
    private let listener: Int32
    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)

    init(to serverPort: Int) throws {
        self.serverPort = serverPort
        (listener, port) = try listenOnLoopback()
        let started = try NamedThread.start("proxy") { [self] in run() }
        thread.withLock { $0 = started }
    }

    func address(_ database: String) -> String {
        // A connection that is silenced while it is made must not last for as long as the test.
        PostgreSQLServer.address("test@127.0.0.1:\(port)/\(database)", seconds: 30)
    }

    /// Whether the fault that was set has happened.
    var isOver: Bool { state.withLock { $0.fault == .none } }

    func set(_ fault: Fault) { state.withLock { $0.fault = fault } }

    /// Ends the proxy and every connection through it.
    func close() {
        state.withLock { $0.isOver = true }
        thread.withLock { $0.take() }?.join()
    }

    /// One thread moves all bytes; a few milliseconds of delay do not matter here.
    private func run() {
        while !state.withLock({ $0.isOver }) {
            if state.withLock({ $0.fault }) == .down { cutAll() }
            state.withLock { state in
                guard state.fault == .silent else { return }
                (state.fault, state.pairs, state.silent) = (.none, [], state.silent + state.pairs)
            }
            let pairs = state.withLock { $0.pairs }
            var entries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for pair in pairs {
                entries.append(pollfd(fd: pair.0, events: Int16(POLLIN), revents: 0))
                entries.append(pollfd(fd: pair.1, events: Int16(POLLIN), revents: 0))
            }
            guard poll(&entries, nfds_t(entries.count), 5) > 0 else { continue }
            if entries[0].revents != 0 { accept() }
            for (index, pair) in pairs.enumerated() {
                if entries[1 + 2 * index].revents != 0 { move(from: pair.0, to: pair.1, pair, isRequest: true) }
                if entries[2 + 2 * index].revents != 0 { move(from: pair.1, to: pair.0, pair, isRequest: false) }
            }
        }
        state.withLock { ($0.pairs, $0.silent) = ($0.pairs + $0.silent, []) }
        cutAll()
        Glibc.close(listener)
    }

    private func accept() {
        let client = Glibc.accept(listener, nil, nil)
        guard client >= 0 else { return }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard state.withLock({ $0.fault }) != .down,
            withLoopback(UInt16(serverPort), { connect(server, $0, $1) }) == 0
        else {
            Glibc.close(client)
            Glibc.close(server)
            return
        }
        state.withLock { $0.pairs.append((client, server)) }
    }

    private func move(from: Int32, to: Int32, _ pair: (Int32, Int32), isRequest: Bool) {
        guard state.withLock({ $0.pairs.contains { $0 == pair } }) else { return }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(from, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count != 0, count > 0 || errno == EAGAIN else { return cut(pair) }
        guard count > 0 else { return }
        bytes.removeLast(bytes.count - count)
        guard !isRequest || !silence(pair, at: bytes) else { return }
        if !isRequest, let isSaid = endBeforeReady(&bytes) {
            send(bytes, to: to, pair)
            // Or the end would be read together with the message, which is ignored then.
            if isSaid { usleep(100_000) }
            return cut(pair)
        }
        if !isRequest { rollBackForCommit(&bytes) }
        let (allowed, isLast) = allowance(bytes.count, isRequest: isRequest)
        send(bytes[..<allowed], to: to, pair)
        if isLast { cutAll() }
    }

    private func send(_ bytes: some Collection<UInt8>, to: Int32, _ pair: (Int32, Int32)) {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let step = bytes[sent...].withUnsafeBytes { Glibc.send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard step > 0 else { return cut(pair) }
            sent += step
        }
    }

    /// Takes the end off an answer, if that is the fault; whether a message came in its place.
    private func endBeforeReady(_ bytes: inout [UInt8]) -> Bool? {
        let ready: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5]
        return state.withLock { state in
            guard case .endBeforeReady(let isSaid) = state.fault, bytes.count > 6, bytes.suffix(6).starts(with: ready)
            else { return nil }
            state.fault = .none
            bytes.removeLast(6)
            guard isSaid else { return false }
            let fields = Array("SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0".utf8)
            bytes += [UInt8(ascii: "E"), 0, 0, 0, UInt8(fields.count + 4)] + fields
            return true
        }
    }

    /// Passes nothing on of a connection whose request rolls back, if that is the fault; whether it is.
    private func silence(_ pair: (Int32, Int32), at request: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.fault == .silentAtRollBack, request.contains("ROLLBACK".utf8) else { return false }
            state.fault = .none
            state.pairs.removeAll { $0 == pair }
            state.silent.append(pair)
            return true
        }
    }

    private func rollBackForCommit(_ bytes: inout [UInt8]) {
        func tag(_ text: String) -> [UInt8] {
            Array("C\0\0\0".utf8) + [UInt8(text.utf8.count + 5)] + Array("\(text)\0".utf8)
        }
        state.withLock { state in
            guard state.fault == .rollBackForCommit, let place = bytes.firstRange(of: tag("COMMIT")) else { return }
            bytes.replaceSubrange(place, with: tag("ROLLBACK"))
            state.fault = .none
        }
    }

    /// How many of these bytes may pass, and whether they are the last.
    private func allowance(_ count: Int, isRequest: Bool) -> (Int, Bool) {
        state.withLock { state in
            guard case .cut(let left, let ofRequests) = state.fault, ofRequests == isRequest else {
                return (count, false)
            }
            state.fault = left > count ? .cut(bytes: left - count, ofRequests: isRequest) : .none
            return (min(left, count), left <= count)
        }
    }

    private func cutAll() {
        for pair in state.withLock({ $0.pairs }) { cut(pair) }
    }

    private func cut(_ pair: (Int32, Int32)) {
        let isThere = state.withLock { state in
            guard let index = state.pairs.firstIndex(where: { $0 == pair }) else { return false }
            state.pairs.remove(at: index)
            return true
        }
        guard isThere else { return }
        Glibc.close(pair.0)
        Glibc.close(pair.1)
    }
}
