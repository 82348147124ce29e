private import Glibc

/// The signals that an operator sends to a server.
package enum Signal: Sendable, Equatable, CaseIterable {
    /// SIGTERM: a service manager asks the server to end.
    case terminate
    /// SIGINT: Ctrl-C.
    case interrupt
    /// SIGHUP: an operator asks the server to reload files.
    case hangup

    /// The system's number; a process that a signal ends has the exit code 128 plus this number.
    package var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangup: SIGHUP
        }
    }
}

/// Turns signals into values that one thread waits for.
///
/// No code runs in a signal handler, where almost nothing is allowed.
package struct Signals: Sendable {
    private var awaited = Signal.allCases
    private let ignoresHangup: Bool

    /// Holds the signals back on this thread and on all threads that it starts, and ignores SIGPIPE and SIGXFSZ.
    ///
    /// A write to a closed connection or an overlong file is then an error and not the end. The call must come first in
    /// the program, because the signals would still end a thread that exists already.
    package init() {
        var former = sigaction()
        // SIG_IGN is the number 1 in place of a function.
        ignoresHangup =
            unsafe sigaction(SIGHUP, nil, &former) == 0
            && unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == 1
        var set = set
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        _ = signal(SIGPIPE, SIG_IGN)
        // A file that may grow no more (ulimit -f) is like a full disk: the write fails.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// These signals without SIGHUP if it was ignored at the start, as by nohup: a blocked signal is still queued.
    package var sparingNohup: Signals {
        var spared = self
        if ignoresHangup { spared.awaited.removeAll { $0 == .hangup } }
        return spared
    }

    package func next() -> Signal {
        while true {
            if let signal = next(within: .seconds(86_400)) { return signal }
        }
    }

    /// Waits for the next signal for this time, or for any time; nil if none came.
    package func next(within limit: Duration?) -> Signal? {
        guard let limit else { return next() }
        var set = set
        let (seconds, attoseconds) = limit.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        let number = unsafe sigtimedwait(&set, nil, &time)
        return awaited.first { $0.number == number }
    }

    /// Lets signals end the program again, for work that may end anywhere.
    package func release() {
        var set = set
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Sends SIGTERM to this process when standard input ends.
    package func sendAtEndOfInput() throws(SystemError) {
        try NamedThread.start("input") {
            // What arrives is read only to notice the end.
            while let bytes = try? StandardStream.input.readAll(limit: 1), !bytes.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }

    private var set: sigset_t {
        var set = sigset_t()
        _ = unsafe sigemptyset(&set)
        for signal in awaited { _ = unsafe sigaddset(&set, signal.number) }
        return set
    }
}
