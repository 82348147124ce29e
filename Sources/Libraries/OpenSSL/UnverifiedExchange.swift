private import COpenSSL

/// One request and its answer over TLS, with a server whose certificate is not checked.
///
/// A program uses it to ask its own server on this machine whether the server answers: the program sends no secret and
/// trusts nothing in the answer. Keys are fetched in another way, with verification.
package enum UnverifiedExchange {
    /// Why there is no answer.
    package enum Failure: Error, Sendable, Equatable {
        /// The other side speaks no TLS, or not in time.
        case noHandshake
        /// The connection ended before the answer did.
        case cut
    }

    /// The longest answer.
    private static let longest = 1 << 20

    /// Sends these bytes and reads until the other side closes.
    ///
    /// - Parameters:
    ///   - bytes: the request; it should ask the other side to close.
    ///   - socket: a connected socket that blocks, with deadlines of its own; it stays open.
    /// - Returns: the answer.
    /// - Throws: ``Failure``.
    package static func send(_ bytes: [UInt8], over socket: Int32) throws(Failure) -> [UInt8] {
        Cleanup.turnOff()
        guard let answer = unsafe BIO_new(BIO_s_mem()) else { throw .cut }
        defer { unsafe BIO_free(answer) }
        let end = unsafe copenssl_exchange_unverified(socket, bytes, bytes.count, longest, answer)
        guard end != Int32(COPENSSL_EXCHANGE_NO_HANDSHAKE.rawValue) else { throw .noHandshake }
        guard end == Int32(COPENSSL_EXCHANGE_DONE.rawValue) else { throw .cut }
        // The bytes belong to the BIO, and the array copies them.
        var start: UnsafePointer<CChar>?
        let count = unsafe copenssl_bio_bytes(answer, &start)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
