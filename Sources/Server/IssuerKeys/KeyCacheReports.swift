internal import Platform
internal import Synchronization
internal import Tokens

// What the cache tells, and the file that it keeps.
extension KeyCache {
    /// The keys at this moment.
    var status: KeyStatus {
        let now = time.now
        let keys = current(now: now)
        return guarded.withLock { guarded in
            let state = guarded.state.state(now: now)
            let oldest = guarded.state.sources.indices
                .filter { guarded.state.serves(source: $0, now: now) }
                .compactMap { guarded.state.sources[$0].loadedAt }.min()
            return KeyStatus(
                state: state, isDegraded: guarded.state.isDegraded,
                ageSeconds: oldest.map { Int((now - $0) / 1_000_000_000) },
                keyIdentifiers: keys.entries.map(\.key.published.keyIdentifier),
                lastFailure: guarded.state.isDegraded ? guarded.lastFailure : nil, waiters: guarded.waiters.count,
                counters: guarded.counters)
        }
    }

    /// After how many seconds a token can perhaps be judged, while there are no keys.
    var retryAfter: Int {
        let now = time.now
        return guarded.withLock { $0.state.retryAfter(now: now) }
    }

    func report(_ loaded: LoadedSource, of source: KeySource, after known: LoadedSource?) {
        let before = known?.keys ?? []
        let added = loaded.keys.filter { key in !before.contains { $0.isSame(as: key) } }
        let removed = before.filter { key in !loaded.keys.contains { $0.isSame(as: key) } }
        observer(
            .loaded(
                source: source.name, keys: loaded.keys.count, added: added.map(\.published.keyIdentifier),
                removed: removed.map(\.published.keyIdentifier)))
        for key in added where key.published.carriesPrivateMembers {
            observer(.privateKeyPublished(source: source.name, keyIdentifier: key.published.keyIdentifier))
        }
        // Once a set, not once an hour (V-38).
        for key in loaded.skipped where !(known?.skipped.contains(key) ?? false) {
            observer(.keySkipped(source: source.name, key: key))
        }
    }

    /// Takes over what the file remembers, as stale (V-88).
    func readFile() {
        guard let path = configuration.keyCacheFile else { return }
        let (now, wall) = (time.now, time.wallMilliseconds)
        do throws(KeyFile.Rejection) {
            let records = try KeyFile(path: path).read(
                configuration.sources, distrusted: configuration.distrustedKeys, now: wall,
                trust: configuration.timing.trust)
            let taken = records.indices.filter { take(records[$0], source: $0, now: now, wall: wall) }
            guard !taken.isEmpty else { return }
            observer(.fileRead(sources: taken.count))
            republish(now: now)
        } catch {
            observer(.fileIgnored(reason: error.reason))
        }
    }

    private func take(
        _ record: Result<KeyFile.Record, KeyFile.Rejection>?, source: Int, now: Int64, wall: Int64
    ) -> Bool {
        switch record {
        case nil: return false
        case .failure(let rejection)?:
            observer(.fileIgnored(reason: rejection.reason))
            return false
        case .success(let record)?:
            do throws(LoadFailure) {
                try configuration.checkAgreement(
                    of: record.source.issuer, source: source, with: trustedIssuers(now: now))
            } catch {
                observer(.fileIgnored(reason: "\(configuration.sources[source].name): \(error.words)"))
                return false
            }
            guarded.withLock { guarded in
                guarded.loaded[source] = record.source
                guarded.fetchedAt[source] = record.fetchedAt
                guarded.state.restore(source: source, loadedAt: now - (wall - record.fetchedAt) * 1_000_000)
            }
            return true
        }
    }

    func writeFile() {
        guard let path = configuration.keyCacheFile else { return }
        let records = guarded.withLock { guarded in
            guarded.loaded.indices.compactMap { index in
                guarded.loaded[index].map {
                    KeyFile.Record(
                        metadataURL: configuration.sources[index].metadataURL, source: $0,
                        fetchedAt: guarded.fetchedAt[index])
                }
            }
        }
        do throws(SystemError) {
            try KeyFile(path: path).write(records)
        } catch {
            observer(.fileNotWritten(reason: error.description))
        }
    }
}
