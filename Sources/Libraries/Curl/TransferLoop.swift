private import CCurl

/// Runs one transfer to its end on the calling thread, and can be woken from another.
///
/// A multi handle drives the one transfer, because curl_easy_perform checks only once a second whether it should stop.
@safe final class TransferLoop {
    private let multi: UnsafeMutableRawPointer
    private let transfer: Transfer

    init(_ transfer: Transfer) throws(FetchError) {
        guard let multi = unsafe curl_multi_init() else { throw .unavailable(reason: "no multi handle") }
        unsafe self.multi = multi
        self.transfer = transfer
        unsafe curl_multi_add_handle(multi, transfer.easy)
    }

    deinit {
        unsafe curl_multi_remove_handle(multi, transfer.easy)
        unsafe curl_multi_cleanup(multi)
    }

    var waker: Waker { unsafe Waker(multi: multi) }

    /// Returns libcurl's result.
    func run(unless cancelled: () -> Bool) throws(FetchError) -> UInt32 {
        while !cancelled() {
            var running: Int32 = 0
            let code = unsafe curl_multi_perform(multi, &running)
            guard code == CURLM_OK else { throw .unavailable(reason: "multi handle answers \(code.rawValue)") }
            var result = CURLE_OK
            if unsafe ccurl_ended(multi, &result) != 0 { return result.rawValue }
            // The call returns earlier for bytes, for libcurl's own timers, and for wake().
            _ = unsafe curl_multi_poll(multi, nil, 0, 1000, nil)
        }
        throw .cancelled
    }

    /// The part of a loop that another thread may hold.
    ///
    /// The type is Sendable, because any thread may call curl_multi_wakeup while another is in curl_multi_poll. The
    /// fetcher forgets the waker, under its lock, before the handle is freed.
    @safe struct Waker: @unchecked Sendable, Equatable {
        private let multi: UnsafeMutableRawPointer

        fileprivate init(multi: UnsafeMutableRawPointer) {
            unsafe self.multi = multi
        }

        func wake() {
            _ = unsafe curl_multi_wakeup(multi)
        }

        static func == (left: Waker, right: Waker) -> Bool {
            unsafe left.multi == right.multi
        }
    }
}
