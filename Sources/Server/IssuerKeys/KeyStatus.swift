/// The reliability of the keys (V-70 to V-83); see `docs/internals/how-it-works.md`.
package enum KeyState: String, Sendable, Equatable, CaseIterable {
    /// Nothing was ever loaded, so tokens cannot be verified.
    case empty
    /// The keys were loaded recently.
    case fresh
    /// The keys are due for a refresh, and still verify tokens.
    case stale
    /// The keys are too old to be trusted, so tokens cannot be verified.
    case expired

    /// Whether tokens can be verified.
    package var serves: Bool { self == .fresh || self == .stale }
}

/// The keys at one moment, for `/readyz` and `/metrics` (V-165).
package struct KeyStatus: Sendable, Equatable {
    package var state: KeyState
    /// Whether the last attempt at any metadata document failed.
    package var isDegraded: Bool
    /// The age of the oldest keys that serve, in seconds.
    package var ageSeconds: Int?
    /// The `kid` of every key that serves, not escaped.
    package var keyIdentifiers: [String]
    /// The reason of the last failure, while `isDegraded`.
    package var lastFailure: String?
    /// The number of requests that wait for a refresh now.
    package var waiters: Int
    package var counters: KeyCounters
}

/// The counts of the key cache since the start.
package struct KeyCounters: Sendable, Equatable {
    /// The loads of a metadata document that succeeded.
    package var loads = 0
    /// The loads of a metadata document that failed.
    package var failures = 0
    /// The refreshes, each of all metadata documents that were due.
    package var refreshes = 0
    /// The time of all refreshes together.
    package var refreshNanoseconds: Int64 = 0
    /// The tokens whose key was unknown.
    package var unknownKeys = 0
}

/// An event of the keys, for the log (V-133).
///
/// `source` is the name of a document: its policy or address, after the name of the token source if it has one. Key
/// identifiers are as the provider wrote them: escape them before they are written.
package enum KeyEvent: Sendable, Equatable {
    /// A metadata document was loaded: the number of its keys, and the `kid`s that are new or gone.
    case loaded(source: String, keys: Int, added: [String], removed: [String])
    /// A metadata document could not be loaded, with the reason and remedy, and the time until the next attempt.
    case loadFailed(source: String, reason: String, nextAttemptSeconds: Int)
    /// A published key is not used; the event comes once for each set.
    case keySkipped(source: String, key: SkippedKey)
    /// The provider publishes the private half of a key, with which everyone who reads it can sign.
    case privateKeyPublished(source: String, keyIdentifier: String)
    /// The state of one token source, given by its name, has changed.
    case stateChanged(source: String? = nil, from: KeyState, to: KeyState)
    /// Unknown keys are refused without a refresh for now; the event comes once until the next refresh.
    case unknownKeysLimited(source: String? = nil)
    /// The keys of that many metadata documents were taken from the file.
    case fileRead(source: String? = nil, documents: Int)
    /// The file, or the keys of one metadata document in it, were not taken.
    case fileIgnored(reason: String)
    case fileNotWritten(reason: String)
}

/// The times and bounds of the key cache; see `docs/internals/how-it-works.md`.
package struct KeyTiming: Sendable, Equatable {
    /// The time after which keys are fetched anew, less a jitter of up to a tenth (V-87).
    package var refresh: Duration = .seconds(3600)
    /// The shortest time to which `Cache-Control: max-age` may shorten ``refresh`` (V-89).
    package var shortestRefresh: Duration = .seconds(300)
    /// The time for which keys are trusted after the last load (V-83).
    package var trust: Duration = .seconds(86_400)
    /// The longest pause between attempts after failures.
    package var longestBackoff: Duration = .seconds(60)
    /// The longest pause between attempts while no keys serve (V-72).
    package var longestBackoffWithoutKeys: Duration = .seconds(4)
    /// The longest time for which a provider's `Retry-After` is obeyed (V-99).
    package var longestHold: Duration = .seconds(300)
    /// The refreshes that unknown keys may demand one after the other (V-79).
    package var burst = 2
    /// The time after which unknown keys may demand one more refresh.
    package var refill: Duration = .seconds(30)
    /// The shortest time between two refreshes that bad signatures demand (V-98).
    package var badSignatureInterval: Duration = .seconds(60)
    /// The shortest time between two forced refreshes (V-90).
    package var forcedInterval: Duration = .seconds(5)
    /// The most requests that may wait for a refresh (V-81).
    package var mostWaiters = 64
    /// The longest wait of a request for a refresh.
    package var patience: Duration = .seconds(2)

    package init() {}
}
