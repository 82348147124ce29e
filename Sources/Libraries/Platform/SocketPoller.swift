private import Glibc

/// A socket that a thread waits for.
package struct PollInterest: Sendable {
    package let socket: Int32
    /// Whether room to write also ends the wait.
    package let writing: Bool

    package init(socket: Int32, writing: Bool) {
        self.socket = socket
        self.writing = writing
    }
}

/// Lets one thread wait for sockets, and any other thread wake it through a pipe.
package final class SocketPoller: Sendable {
    private let reading: Int32
    private let writing: Int32

    /// Makes the pipe; nil if the process may open no more files.
    package init?() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        _ = close(reading)
        _ = close(writing)
    }

    /// Wakes the thread, or ends its next wait at once.
    ///
    /// If the pipe is full, earlier calls have woken the thread already.
    package func wake() {
        var byte: UInt8 = 1
        _ = unsafe write(writing, &byte, 1)
    }

    /// Sleeps until a socket is ready, `wake` is called, or the time is over; returns which sockets are ready.
    ///
    /// It uses poll and not epoll, because there are few sockets, and libpq may replace them at any reconnect.
    package func wait(for interests: [PollInterest], milliseconds: Int32) -> [Bool] {
        var entries = interests.map { interest in
            pollfd(fd: interest.socket, events: Int16(interest.writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
        }
        entries.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        let count = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
        guard count > 0 else { return entries.dropLast().map { _ in false } }
        if let pipe = entries.last, pipe.revents != 0 { drainPipe() }
        return entries.dropLast().map { $0.revents != 0 }
    }

    private func drainPipe() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(reading, &bytes, bytes.count) == bytes.count {}
    }
}
