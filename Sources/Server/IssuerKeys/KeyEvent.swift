/// What happens to the keys, for the log (V-133).
///
/// Key identifiers come from the provider as they are: to be escaped before they are written.
package enum KeyEvent: Sendable, Equatable {
    /// A source was loaded; its keys, and which of them are new or gone.
    case loaded(source: String, keys: Int, added: [String], removed: [String])
    /// A source could not be loaded: why and what to do, and when the next attempt is.
    case loadFailed(source: String, reason: String, nextAttemptSeconds: Int)
    /// A published key is not used; said once for each set.
    case keySkipped(source: String, key: SkippedKey)
    /// The provider publishes the private half of a key: whoever reads it can sign.
    case privateKeyPublished(source: String, keyIdentifier: String)
    /// The state changed.
    case stateChanged(from: KeyState, to: KeyState)
    /// Fetches for unknown keys are used up for now; said once until the next fetch.
    case unknownKeysLimited
    /// So many sources were taken over from the file.
    case fileRead(sources: Int)
    /// The file, or a source in it, was not taken, and why.
    case fileIgnored(reason: String)
    /// The file could not be written, and why.
    case fileNotWritten(reason: String)
}
