import Basics
import HTTP
import JSON
import Synchronization

/// The state that a test may change without disturbing another test: accounts, clock, faults, request log.
///
/// A run is chosen by the tenant in the URL: `r7.contoso.onmicrosoft.com` is contoso in the run `r7`.
final class TestRun: Sendable {
    let directory: Directory
    let skew = Mutex<Int64>(0)
    let redeemed = Mutex(RedeemedGrants())

    let faults = Mutex<[Fault]>([])
    /// The claims challenges that the next token requests of users get, by object id.
    let challenges = Mutex<[String: ClaimsChallenge]>([:])
    let recordedRequests = RecentEntries<JSONObject>(limit: 200)
    let issuedTokens = RecentEntries<IssuedToken>(limit: 50)
    /// Distinguishes the run from the one that it becomes by a reset.
    let identifier = GUID.random()
    /// The sign-ins under way: two tabs do not disturb each other.
    let transactions = WaitingEntries<Transaction>()
    let devices = WaitingEntries<DeviceRequest>()
    /// The permissions to which people consented, by client and person, and those of everybody by client alone.
    let consents = Mutex<[String: Set<String>]>([:])
    /// The keys of the run once it has changed them; until then it has the tenant's.
    let ownKeys: Mutex<KeyRing?>

    init(directory: Directory, keys: KeyRing? = nil) {
        self.directory = directory
        ownKeys = Mutex(keys)
    }

    func hasEnded(family: String) -> Bool { redeemed.withLock { $0.endedFamilies[family] != nil } }
}

/// The grants that may not be redeemed again, each with the end of its time.
struct RedeemedGrants {
    private var identifiers: [String: Int64] = [:]
    /// The families of which a grant was redeemed twice, since nobody knows which of both redeemers was a thief
    /// (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2).
    private(set) var endedFamilies: [String: Int64] = [:]

    /// Marks a grant as redeemed, and ends its family if it was redeemed before.
    ///
    /// Refresh tokens have at most this lifetime, in seconds. Returns whether the grant had not been redeemed before.
    mutating func spend(_ grant: Grant, now: Int64, longest lifetime: Int64) -> Bool {
        if identifiers.count > 4096 { identifiers = identifiers.filter { $0.value > now } }
        if endedFamilies.count > 4096 { endedFamilies = endedFamilies.filter { $0.value > now } }
        guard identifiers.updateValue(grant.expires, forKey: grant.identifier) != nil else { return true }
        endedFamilies[grant.family] = now + lifetime
        return false
    }
}

/// A request names a test run that no control has made.
struct UnknownRun: Error {
    /// Quotes nothing: a page of another site may have sent the request.
    var response: Response {
        Response.text(
            "There is no such test run. A control that is no GET makes it, such as POST /_mock/reset?run=NAME.",
            status: 404)
    }
}

/// The names of the test runs, which all tenants of a mock have.
final class TestRunNames: Sendable {
    static let most = 1000
    private let names = Mutex<Set<String>>([""])

    var all: [String] { names.withLock { $0.sorted() } }

    func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }

    func add(_ name: String) -> Bool {
        names.withLock { names in
            guard names.contains(name) || names.count <= Self.most else { return false }
            names.insert(name)
            return true
        }
    }
}

/// The runs of one tenant.
///
/// A run exists for all tenants once a control has made it; each begins it when it is asked for.
final class TestRuns: Sendable {
    private struct State {
        var unnamed: TestRun
        var named: [String: TestRun] = [:]
    }

    let names: TestRunNames
    private let configuration: Configuration
    private let state: Mutex<State>
    private let other: TestRuns?

    init(
        _ configuration: Configuration, _ names: TestRunNames, home: Directory, sharingAccountsOf other: TestRuns? = nil
    ) {
        self.configuration = configuration
        self.names = names
        self.other = other
        state = Mutex(State(unnamed: TestRun(directory: other?.unnamed.directory ?? home)))
    }

    var unnamed: TestRun { state.withLock(\.unnamed) }

    /// Returns the run of this name; the empty name is that of ``unnamed``.
    func run(_ name: String) throws(UnknownRun) -> TestRun {
        if name.isEmpty { return unnamed }
        guard names.contains(name) else { throw UnknownRun() }
        let directory = try other?.run(name).directory
        return state.withLock { state in
            if let run = state.named[name] { return run }
            let run = TestRun(directory: directory ?? Directory(configuration.users))
            state.named[name] = run
            return run
        }
    }

    func reset(_ name: String, _ old: TestRun) -> TestRun {
        // The directory stays the same object: it may be the one that is kept on disk.
        old.directory.reset(configuration.users)
        let run = TestRun(directory: old.directory, keys: old.ownKeys.withLock { $0 })
        state.withLock { if name.isEmpty { $0.unnamed = run } else { $0.named[name] = run } }
        return run
    }
}

extension Tenant {
    /// The run that a segment of a URL names by one of these names of the tenant; `nil` for another tenant.
    static func run(of segment: String, names: [String]) -> String? {
        for name in names {
            if segment.isEqualIgnoringCase(to: name) { return "" }
            let run = segment.dropLast(name.count + 1)
            if !run.isEmpty, segment.isEqualIgnoringCase(to: "\(run).\(name)") { return run.lowercased() }
        }
        return nil
    }
}

/// What waits for a person, found by a random name; the oldest entries make room for new ones.
final class WaitingEntries<Entry: Sendable>: Sendable {
    private let waiting = Mutex<[(name: String, entry: Entry)]>([])
    private let limit = 2000

    func add(_ entry: Entry, _ name: String) {
        waiting.withLock { waiting in
            if waiting.count >= limit { waiting.removeFirst() }
            waiting.append((name, entry))
        }
    }

    func entry(_ name: String) -> Entry? { waiting.withLock { $0.first { $0.name.isSame(as: name) }?.entry } }

    /// Changes the first entry of this kind, and returns whether there is one.
    @discardableResult
    func change(where isMeant: (_ name: String, Entry) -> Bool, _ change: (inout Entry) -> Void) -> Bool {
        waiting.withLock { waiting in
            guard let index = waiting.firstIndex(where: { isMeant($0.name, $0.entry) }) else { return false }
            change(&waiting[index].entry)
            return true
        }
    }

    /// Returns whether the entry was there: nothing is removed twice.
    @discardableResult
    func remove(_ name: String) -> Bool {
        waiting.withLock { waiting in
            let count = waiting.count
            waiting.removeAll { $0.name.isSame(as: name) }
            return waiting.count < count
        }
    }
}

/// The last entries of a list that goes on, each with its number from 1 on.
final class RecentEntries<Entry: Sendable>: Sendable {
    typealias Numbered = (number: Int, entry: Entry)

    private let kept = Mutex<(entries: [Numbered], count: Int)>(([], 0))
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func append(_ entry: Entry) {
        kept.withLock { kept in
            kept.count += 1
            if kept.entries.count >= limit { kept.entries.removeFirst() }
            kept.entries.append((kept.count, entry))
        }
    }

    /// The entries of higher numbers than this one, oldest first.
    func after(_ number: Int) -> [Numbered] { kept.withLock { $0.entries.filter { $0.number > number } } }
}

/// A token of a run, so that people can see what a client got.
///
/// Tokens are shown on the page for developers only, and are in no log.
struct IssuedToken: Sendable {
    /// Seconds since 1970, by the clock of the run.
    let time: Int64
    let token: String
    var defect: String?
}
