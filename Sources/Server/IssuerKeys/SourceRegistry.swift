import Basics
import Synchronization
import Tokens

/// The issuers that the token sources have loaded: the only thing that they know of each other.
///
/// An issuer belongs to one source (P-2), and sources that share owners must be of one tenant (P-15). The settings refuse
/// what they show themselves, see ``IssuerKeysConfiguration/mistakes``; what only the documents show is refused here.
final class SourceRegistry: Sendable {
    private struct State {
        /// By source: the issuers of its documents, as far as they are known; by document those that were loaded.
        var known: [[String]]
        var loaded: [[String?]]
        /// Sources that were refused because the tenant of this other one was not known yet.
        var waiting: Set<Int> = []
        var retries: [Int: @Sendable () -> Void] = [:]

        func issuers(of source: Int) -> [String] { known[source] + loaded[source].compactMap(\.self) }
    }

    private let configuration: IssuerKeysConfiguration
    private let state: Mutex<State>

    init(_ configuration: IssuerKeysConfiguration) {
        self.configuration = configuration
        let sources = configuration.sources
        state = Mutex(
            State(
                known: sources.map(\.knownIssuers),
                loaded: sources.map { Array(repeating: nil, count: $0.documents.count) }))
    }

    /// What to do when the tenant is known for which a source waits.
    func onRetry(ofSource source: Int, _ retry: @escaping @Sendable () -> Void) {
        state.withLock { $0.retries[source] = retry }
    }

    /// Notes the issuer of a document that is about to be trusted.
    ///
    /// - Throws: ``LoadFailure/issuerOfOtherSource(_:)``, ``LoadFailure/sharedTenantUnknown(_:)`` or
    ///   ``LoadFailure/sharedTenantDiffers(_:)``; then the document is not trusted.
    func admit(_ issuer: String, source: Int, document: Int) throws(LoadFailure) {
        guard configuration.sources.count > 1 else { return }
        let retries = try state.withLock { (state) throws(LoadFailure) in
            try checkOwner(of: issuer, source, state)
            try checkSharing(issuer, source, &state)
            state.loaded[source][document] = issuer
            let ready = state.waiting.filter { configuration.sharedSource(of: $0) == source }
            state.waiting.subtract(ready)
            return ready.compactMap { state.retries[$0] }
        }
        for retry in retries { retry() }
    }

    private func checkOwner(of issuer: String, _ source: Int, _ state: State) throws(LoadFailure) {
        for other in configuration.sources.indices where other != source {
            guard !state.issuers(of: other).contains(where: { Self.overlap($0, issuer) }) else {
                throw .issuerOfOtherSource(configuration.name(ofSource: other))
            }
        }
    }

    private func checkSharing(_ issuer: String, _ source: Int, _ state: inout State) throws(LoadFailure) {
        guard let shared = configuration.sharedSource(of: source) else {
            // None of these was trusted before this one was known, so here is one that changes its tenant.
            for other in configuration.sources.indices where configuration.sharedSource(of: other) == source {
                try checkTenant(of: issuer, state.loaded[other].compactMap(\.self), ofSource: other)
            }
            return
        }
        let issuers = state.issuers(of: shared)
        guard !issuers.isEmpty else {
            state.waiting.insert(source)
            throw .sharedTenantUnknown(configuration.name(ofSource: shared))
        }
        try checkTenant(of: issuer, issuers, ofSource: shared)
    }

    private func checkTenant(of issuer: String, _ issuers: [String], ofSource other: Int) throws(LoadFailure) {
        let tenant = IssuerTenant.of(issuer)
        guard issuers.allSatisfy({ tenant != nil && IssuerTenant.of($0) == tenant }) else {
            throw .sharedTenantDiffers(configuration.name(ofSource: other))
        }
    }

    /// Whether one token could be of both issuers: they are equal, or one is the other with its tenant left open (P-2).
    static func overlap(_ first: String, _ second: String) -> Bool {
        let tenant = IssuerTenant.of(first) ?? IssuerTenant.of(second) ?? IssuerTenant.personalAccounts
        return IssuerTenant.fill(first, with: tenant).isSame(as: IssuerTenant.fill(second, with: tenant))
    }
}

extension IssuerKeysConfiguration {
    /// For messages.
    func name(ofSource index: Int) -> String { sources[index].name ?? "the source without name" }
}
