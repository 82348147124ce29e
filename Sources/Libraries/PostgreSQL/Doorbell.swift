private import Glibc

/// Wakes a thread that waits for sockets, from any other thread: a pipe whose one byte means "look".
package final class Doorbell: Sendable {
    private let reading: Int32
    private let writing: Int32

    /// A doorbell; nil if the process may open no more files.
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

    /// Wakes the thread, or lets its next wait end at once.
    ///
    /// A full pipe has woken it long ago.
    package func ring() {
        var byte: UInt8 = 1
        _ = unsafe write(writing, &byte, 1)
    }

    /// A socket that somebody waits for.
    package struct Interest: Sendable {
        /// Its number.
        package let socket: Int32
        /// Also until it takes more, not only until something came.
        package let writing: Bool

        /// Interest in this socket.
        package init(socket: Int32, writing: Bool) {
            self.socket = socket
            self.writing = writing
        }
    }

    /// Sleeps until one of the sockets is ready, somebody rings, or the time is over; which of the sockets are ready.
    ///
    /// poll and not epoll: there are a handful of sockets, and libpq may replace them at any reconnect.
    package func wait(for interests: [Interest], milliseconds: Int32) -> [Bool] {
        var entries = interests.map { interest in
            pollfd(fd: interest.socket, events: Int16(interest.writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
        }
        entries.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        let count = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
        guard count > 0 else { return entries.dropLast().map { _ in false } }
        if let bell = entries.last, bell.revents != 0 { silence() }
        return entries.dropLast().map { $0.revents != 0 }
    }

    private func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(reading, &bytes, bytes.count) == bytes.count {}
    }
}
