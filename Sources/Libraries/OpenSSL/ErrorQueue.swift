private import COpenSSL

/// OpenSSL's list of errors, of which each thread has one.
///
/// The list is cleared around every operation, so that a reason is never taken for the reason of a later failure.
enum ErrorQueue {
    /// Empties the list of this thread.
    static func clear() {
        ERR_clear_error()
    }

    /// Returns the oldest reason, as OpenSSL words it, and empties the list.
    static func drain() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        // The text is a constant of the library, not ours to free.
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: reason)
    }
}
