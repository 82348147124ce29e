private import COpenSSL

/// OpenSSL's list of errors, one a thread.
///
/// It is cleared around every operation, so that a reason is never read as that of a later one.
enum ErrorQueue {
    /// Empties the list of this thread.
    static func clear() {
        ERR_clear_error()
    }

    /// The oldest reason, as OpenSSL words it; empties the list.
    static func drain() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        // The text is a constant of the library, not ours to free.
        guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "no reason given" }
        return unsafe String(cString: reason)
    }
}
