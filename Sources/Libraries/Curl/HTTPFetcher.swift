import Basics
private import CCurl
private import OpenSSL
import Synchronization

/// Fetches documents over HTTPS, one blocking call each, for threads that may wait.
///
/// Every call uses a connection of its own: nothing (cookies, sessions, credentials) is carried from one to the next.
/// The usual proxy variables of the environment are honoured, except for loopback addresses.
package final class HTTPFetcher: Sendable {
    private let isCancelled = Atomic<Bool>(false)

    package init() {}

    /// Fetches one document with status 200 over verified TLS, without redirects or encoding, within the limits (V-75).
    package func fetch(_ request: FetchRequest) throws(FetchError) -> FetchedDocument {
        let transfer = try Transfer(request)
        let result = try transfer.run { isCancelled.load(ordering: .relaxed) }
        return try transfer.document(after: result)
    }

    /// Sends a request and returns its answer, which may have any status, also that of a redirect.
    ///
    /// A body that is longer than the limit is not read to its end.
    package func exchange(_ request: FetchRequest) throws(FetchError) -> (status: Int, body: [UInt8]) {
        let transfer = try Transfer(request)
        let result = try transfer.run { isCancelled.load(ordering: .relaxed) }
        return try transfer.answer(after: result)
    }

    /// Asks a server of this package within 10 s, as the command `health` does (see ``FetchRequest/isForOwnServer``).
    ///
    /// Returns the status, and the text of the answer without the newline at its end.
    package static func askOwnServer(_ url: String) throws(FetchError) -> (status: Int, text: String) {
        var request = FetchRequest(url: url, connectTime: .seconds(10), totalTime: .seconds(10), allowHTTP: true)
        request.accept = "text/plain"
        request.isForOwnServer = true
        let (status, body) = try HTTPFetcher().exchange(request)
        let text = String(decoding: body, as: UTF8.self)
        return (status, text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// Ends all running calls within a twentieth of a second, and every later one at once, with
    /// ``FetchError/cancelled`` (V-91).
    package func cancel() { isCancelled.store(true, ordering: .relaxed) }
}

/// One transfer: an easy handle with every option set, and the body that it received.
@safe final class Transfer {
    private let easy: UnsafeMutableRawPointer
    private let request: FetchRequest
    private let address: WebAddress
    /// The body that has arrived so far, up to its limit.
    private var received: [UInt8] = []
    private var isTooLong = false
    /// libcurl uses the text and the fields until the handle is freed.
    private let errorText: UnsafeMutablePointer<CChar>
    private let fields: UnsafeMutablePointer<curl_slist>?

    init(_ request: FetchRequest) throws(FetchError) {
        guard Library.isReady else { throw .unavailable(reason: "curl_global_init failed") }
        address = try request.address()
        guard let easy = unsafe curl_easy_init() else { throw .unavailable(reason: "no easy handle") }
        unsafe self.easy = easy
        self.request = request
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let encoding = unsafe curl_slist_append(nil, "Accept-Encoding: identity")
        var fields = unsafe curl_slist_append(encoding, "Accept: \(request.accept)")
        for field in request.fields { unsafe fields = curl_slist_append(fields, field) }
        unsafe self.fields = fields
        try setOptions()
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(fields)
        unsafe errorText.deallocate()
    }

    private func setOptions() throws(FetchError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        var results = unsafe [
            ccurl_set_error_buffer(easy, errorText),
            ccurl_set_receiver(easy, receiveBody, context),
            ccurl_set_request_fields(easy, fields),
        ]
        for (option, text) in textOptions { unsafe results.append(ccurl_set_text(easy, option, text)) }
        for (option, number) in numberOptions { unsafe results.append(ccurl_set_number(easy, option, number)) }
        guard let refused = results.first(where: { $0 != CURLE_OK }) else { return }
        throw .unavailable(reason: "an option is refused: \(refused.rawValue)")
    }

    private var textOptions: [(CURLoption, String)] {
        var options = [
            (CURLOPT_URL, request.url),
            (CURLOPT_PROTOCOLS_STR, request.allowHTTP ? "http,https" : "https"),
        ]
        if !["GET", "HEAD"].contains(request.method) { options.append((CURLOPT_CUSTOMREQUEST, request.method)) }
        if let content = request.content { options.append((CURLOPT_COPYPOSTFIELDS, content)) }
        if let caFile = request.caFile { options.append((CURLOPT_CAINFO, caFile)) }
        // An empty name switches proxies off, because no proxy can reach this machine's loopback.
        if address.isLoopback || request.isForOwnServer { options.append((CURLOPT_PROXY, "")) }
        // Whether the server answers does not depend on the strength of its key.
        if request.isForOwnServer { options.append((CURLOPT_SSL_CIPHER_LIST, "DEFAULT:@SECLEVEL=0")) }
        return options
    }

    private var numberOptions: [(CURLoption, Int)] {
        [
            (CURLOPT_CONNECTTIMEOUT_MS, Int(request.connectTime / .milliseconds(1))),
            (CURLOPT_TIMEOUT_MS, Int(request.totalTime / .milliseconds(1))),
            (CURLOPT_MAXFILESIZE, request.maxBytes),
            (CURLOPT_FOLLOWLOCATION, 0),
            // libcurl would wait for the body of an answer to HEAD if it took HEAD for the name of a method only.
            (CURLOPT_NOBODY, request.method == "HEAD" ? 1 : 0),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_SSL_VERIFYPEER, request.isForOwnServer ? 0 : 1),
            (CURLOPT_SSL_VERIFYHOST, request.isForOwnServer ? 0 : 2),
            // The body is not decoded; an encoded one is refused.
            (CURLOPT_HTTP_CONTENT_DECODING, 0),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            // libcurl must use no signals in a program with threads.
            (CURLOPT_NOSIGNAL, 1),
            // Do not wait for a getaddrinfo that hangs: its thread is left to end by itself (V-86).
            (CURLOPT_QUICK_EXIT, 1),
        ]
    }

    /// Runs the transfer to its end on this thread, and returns libcurl's result.
    ///
    /// A multi handle drives the one transfer, because curl_easy_perform asks only once a second whether to stop.
    func run(unless isCancelled: () -> Bool) throws(FetchError) -> UInt32 {
        guard let multi = unsafe curl_multi_init() else { throw .unavailable(reason: "no multi handle") }
        unsafe curl_multi_add_handle(multi, easy)
        defer {
            unsafe curl_multi_remove_handle(multi, easy)
            unsafe curl_multi_cleanup(multi)
        }
        while !isCancelled() {
            var running: Int32 = 0
            let code = unsafe curl_multi_perform(multi, &running)
            guard code == CURLM_OK else { throw .unavailable(reason: "multi handle answers \(code.rawValue)") }
            var result = CURLE_OK
            if unsafe ccurl_ended(multi, &result) != 0 { return result.rawValue }
            // The call returns earlier for bytes and for libcurl's own timers.
            _ = unsafe curl_multi_poll(multi, nil, 0, 50, nil)
        }
        throw .cancelled
    }

    /// Returns the document, checked by libcurl's result and the rules of V-75.
    func document(after result: UInt32) throws(FetchError) -> FetchedDocument {
        guard result == CURLE_OK.rawValue else { throw failure(CURLcode(rawValue: result)) }
        switch status {
        case 200: break
        case 300...399: throw .redirected(status: status)
        case 429, 503:
            guard let seconds = field("Retry-After").flatMap(CacheControl.seconds) else { throw .status(status) }
            throw .busy(status: status, retryAfter: seconds)
        default: throw .status(status)
        }
        if let coding = field("Content-Encoding"), coding.lowercased() != "identity" { throw .encoded(coding) }
        return FetchedDocument(body: received, maxAge: field("Cache-Control").flatMap(CacheControl.maxAge))
    }

    /// Returns the answer, even if its body was too long to be read to its end.
    func answer(after result: UInt32) throws(FetchError) -> (status: Int, body: [UInt8]) {
        if result != CURLE_OK.rawValue {
            let failure = failure(CURLcode(rawValue: result))
            guard case .tooLong = failure else { throw failure }
        }
        return (status, received)
    }

    private var status: Int {
        var status = 0
        _ = unsafe ccurl_get_status(easy, &status)
        return status
    }

    private func failure(_ result: CURLcode) -> FetchError {
        if isTooLong { return .tooLong(limit: request.maxBytes) }
        let text = unsafe String(cString: errorText)
        let reason = unsafe text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
        switch result {
        case CURLE_URL_MALFORMAT: return .badAddress(reason)
        case CURLE_COULDNT_RESOLVE_HOST: return .couldNotResolve(host: address.host)
        case CURLE_COULDNT_RESOLVE_PROXY: return .couldNotResolve(host: "the proxy")
        case CURLE_COULDNT_CONNECT: return .couldNotConnect(reason: reason)
        case CURLE_OPERATION_TIMEDOUT: return .timedOut(reason: reason)
        case CURLE_PEER_FAILED_VERIFICATION: return .certificateNotTrusted(reason: reason)
        case CURLE_SSL_CONNECT_ERROR: return .handshakeFailed(reason: reason)
        case CURLE_SSL_CACERT_BADFILE: return .badCAFile(path: request.caFile ?? "of this machine")
        case CURLE_FILESIZE_EXCEEDED: return .tooLong(limit: request.maxBytes)
        default: return .brokenAnswer(reason: reason)
        }
    }

    /// Returns the value of a field; the values of several lines are one list (RFC 9110 section 5.3).
    private func field(_ name: String) -> String? {
        var values: [String] = []
        while let value = unsafe ccurl_field(easy, name, values.count) { unsafe values.append(String(cString: value)) }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Takes a piece of the body; returns false if the body is longer than its limit.
    fileprivate func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        if piece.count > request.maxBytes - received.count { isTooLong = true }
        guard !isTooLong else { return false }
        unsafe received.append(contentsOf: piece)
        return true
    }
}

/// Takes a piece of the body from libcurl; any result other than the size of the piece ends the transfer.
private func receiveBody(
    piece: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    return unsafe transfer.receive(UnsafeRawBufferPointer(start: piece, count: size * count)) ? size * count : 0
}

/// libcurl itself, set up once per process.
private enum Library {
    static let isReady: Bool = {
        Cleanup.turnOff()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}

/// The version of the libcurl that is loaded.
package var libcurlVersion: String {
    guard let facts = unsafe curl_version_info(CURLversion(rawValue: 0)), let text = unsafe facts.pointee.version else {
        return "unknown"
    }
    return unsafe String(cString: text)
}

/// Reads times of answers, as far as a key cache needs them.
enum CacheControl {
    /// Returns the seconds of the first `max-age` directive, if it is a number (RFC 9111 section 5.2.2.1).
    static func maxAge(_ field: String) -> Int? {
        for directive in field.split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
            guard parts.count == 2, parts[0].lowercased() == "max-age" else { continue }
            return seconds(parts[1].trimmingQuotes)
        }
        return nil
    }

    /// Returns a number of seconds; more than nine digits (thirty years) mean nothing here, and could overflow.
    static func seconds(_ digits: some StringProtocol) -> Int? {
        (1...9).contains(digits.utf8.count) ? Int(decimal: Substring(digits)) : nil
    }
}

extension Substring {
    fileprivate var trimmingQuotes: Substring {
        guard utf8.count >= 2, first == "\"", last == "\"" else { return self }
        return dropFirst().dropLast()
    }
}
