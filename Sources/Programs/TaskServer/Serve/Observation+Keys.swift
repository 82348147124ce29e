import IssuerKeys
import Platform
import Tokens

extension Observation {
    /// Logs an event of the authority's keys (V-133).
    func observe(_ event: KeyEvent) {
        switch event {
        case .loaded(let source, let keys, let added, let removed):
            keyFailures.end(of: source)
            log.write(.info, "keys-loaded") { line in
                line.text("source", source)
                line.number("keys", keys)
                if !added.isEmpty { line.text("added", added.joined(separator: " ")) }
                if !removed.isEmpty { line.text("removed", removed.joined(separator: " ")) }
            }
        case .loadFailed(let source, let reason, let seconds):
            guard let leftOut = keyFailures.take(source, reason, at: SystemTime().monotonicNanoseconds) else { return }
            log.write(.warning, "keys-not-loaded", leftOut: leftOut) { line in
                line.text("source", source)
                line.text("reason", reason, limit: 512)
                line.number("nextAttemptSeconds", seconds)
            }
        case .keySkipped(let source, let key):
            log.write(.warning, "key-skipped") { line in
                line.text("source", source)
                line.text("kid", key.keyIdentifier, limit: 64)
                line.text("reason", key.reason)
            }
        case .privateKeyPublished(let source, let identifier):
            log.write(.error, "private-key-published") { line in
                line.text("source", source)
                line.text("kid", identifier, limit: 64)
                line.text("consequence", "everyone who reads it can sign tokens; the provider must replace it")
            }
        case .stateChanged(let source, let from, let to):
            log.write(to.serves ? .info : .error, "keys-state") { line in
                line.text("source", source)
                line.text("from", from.rawValue)
                line.text("to", to.rawValue)
            }
        case .unknownKeysLimited(let source):
            ration(.warning, "unknown-keys-limited", source.map { "source \($0)" })
        case .fileRead(let source, let documents):
            log.write(.info, "key-file-read") { line in
                line.text("source", source)
                line.number("sources", documents)
            }
        case .fileIgnored(let reason): log.write(.warning, "key-file-ignored") { $0.text("reason", reason) }
        case .fileNotWritten(let reason): log.write(.error, "key-file-not-written") { $0.text("reason", reason) }
        }
    }
}
