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
