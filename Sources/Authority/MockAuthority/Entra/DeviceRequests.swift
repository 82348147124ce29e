import Basics
import OpenSSL
import Synchronization

/// The request of a device without a browser (RFC 8628 section 3.1), and what its person did elsewhere.
struct DeviceRequest: Sendable {
    enum Outcome: Sendable, Equatable {
        case pending, declined
        /// The object id.
        case approved(String)
    }

    /// What the device sends when it asks for its tokens.
    let deviceCode: String
    /// What the person types.
    let userCode: String
    let client: String
    let scope: String
    /// Seconds since 1970.
    let expires: Int64
    var outcome = Outcome.pending
}

/// The requests of devices that wait, of a test run.
final class DeviceRequests: Sendable {
    private static let limit = 1000
    /// Without vowels, so that no code is a word; letters that look like digits are missing too.
    private static let alphabet = Array("BCDFGHJKMNPQRSTVWXYZ23456789")
    private let waiting = Mutex<[DeviceRequest]>([])

    func begin(client: String, scope: String, expires: Int64) -> DeviceRequest {
        let userCode = SecureRandom.bytes(9).map { Self.alphabet[Int($0) % Self.alphabet.count] }
        let request = DeviceRequest(
            deviceCode: EntraClaims.random(48), userCode: String(userCode), client: client, scope: scope,
            expires: expires)
        waiting.withLock { waiting in
            if waiting.count >= Self.limit { waiting.removeFirst() }
            waiting.append(request)
        }
        return request
    }

    func request(deviceCode: String) -> DeviceRequest? {
        waiting.withLock { $0.first { $0.deviceCode.isSame(as: deviceCode) } }
    }

    /// Notes what the person of this code did.
    ///
    /// - Returns: whether a device waits for it.
    func finish(_ userCode: String, _ outcome: DeviceRequest.Outcome, now: Int64) -> Bool {
        waiting.withLock { waiting in
            let index = waiting.firstIndex {
                $0.userCode.isEqualIgnoringCase(to: userCode) && $0.expires > now && $0.outcome == .pending
            }
            guard let index else { return false }
            waiting[index].outcome = outcome
            return true
        }
    }

    /// Ends a request: it gives tokens once.
    ///
    /// - Returns: whether it had not ended before.
    func end(_ deviceCode: String) -> Bool {
        waiting.withLock { waiting in
            guard let index = waiting.firstIndex(where: { $0.deviceCode.isSame(as: deviceCode) }) else { return false }
            waiting.remove(at: index)
            return true
        }
    }
}
