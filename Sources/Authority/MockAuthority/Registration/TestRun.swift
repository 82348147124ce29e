import Basics
import Synchronization

/// The state that a test may change without disturbing another test: accounts, clock, faults, request log.
///
/// A run is chosen by the tenant in the URL: `r7.contoso.onmicrosoft.com` is contoso in the run `r7`.
final class TestRun: Sendable {
    let directory: Directory
    /// Seconds that the clock is off.
    let skew = Mutex<Int64>(0)
    private let redeemed = Mutex(RedeemedGrants())

    let faults = Faults()
    let recordedRequests = RecordedRequests()
    let issuedTokens = IssuedTokens()
    /// Distinguishes the run from the one that it becomes by a reset.
    let identifier = GUID.random()
    /// Sign-ins under way.
    let transactions = Transactions()
    /// Devices that wait for their person.
    let devices = DeviceRequests()

    init(directory: Directory) {
        self.directory = directory
    }

    /// Marks a grant as redeemed.
    ///
    /// If it was redeemed before, its family ends; refresh tokens have at most this lifetime, in seconds.
    ///
    /// - Returns: whether it had not been before.
    func spend(_ grant: Grant, now: Int64, longest lifetime: Int64) -> Bool {
        redeemed.withLock { $0.spend(grant, now: now, longest: lifetime) }
    }

    /// Whether a grant from which this one descends was redeemed twice.
    func hasEnded(_ grant: Grant) -> Bool {
        redeemed.withLock { $0.endedFamilies[grant.family] != nil }
    }
}

/// The grants that may not be redeemed again, each with the end of its time.
private struct RedeemedGrants {
    private var identifiers: [String: Int64] = [:]
    /// Families of which a grant was redeemed twice: it is not known which of both was a thief (RFC 6749 section 4.1.2,
    /// RFC 9700 section 4.14.2).
    private(set) var endedFamilies: [String: Int64] = [:]

    mutating func spend(_ grant: Grant, now: Int64, longest lifetime: Int64) -> Bool {
        if identifiers.count > 4096 { identifiers = identifiers.filter { $0.value > now } }
        if endedFamilies.count > 4096 { endedFamilies = endedFamilies.filter { $0.value > now } }
        guard identifiers.updateValue(grant.validity.expires, forKey: grant.identifier) != nil else { return true }
        endedFamilies[grant.family] = now + lifetime
        return false
    }
}

/// The runs of an authority, made when they are first named.
final class TestRuns: Sendable {
    private let configuration: Configuration
    private let runs: Mutex<[String: TestRun]>
    /// The runs of another tenant with the same accounts.
    private let other: TestRuns?
    private static let limit = 1000

    init(_ configuration: Configuration, home: Directory, sharingAccountsOf other: TestRuns? = nil) {
        self.configuration = configuration
        self.other = other
        runs = Mutex(["": TestRun(directory: other?.run("").directory ?? home)])
    }

    /// The run of this name; the empty name is the run of requests that name none.
    func run(_ name: String) -> TestRun {
        runs.withLock { runs in
            if let run = runs[name] { return run }
            if runs.count > Self.limit, let old = runs.keys.first(where: { !$0.isEmpty }) { runs[old] = nil }
            let run = TestRun(directory: other?.run(name).directory ?? Directory(configuration.users))
            runs[name] = run
            return run
        }
    }

    /// Resets a run.
    func reset(_ name: String) {
        // The directory stays the same object: it may be the one that is kept on disk.
        let directory = run(name).directory
        directory.reset(configuration.users)
        runs.withLock { $0[name] = TestRun(directory: directory) }
    }

    var names: [String] { runs.withLock { $0.keys.sorted() } }
}

extension Tenant {
    /// The run that a tenant in a URL names; nothing for another tenant.
    func run(of name: String) -> String? {
        if isCalled(name) { return "" }
        let suffix = "." + self.name
        guard name.utf8.count > suffix.utf8.count, name.suffix(suffix.count).isEqualIgnoringCase(to: suffix) else {
            return nil
        }
        return name.dropLast(suffix.count).lowercased()
    }
}
