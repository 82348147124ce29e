/// The columns of the record of an idempotency key (table `attempts`) in the order in which statements name them.
package enum AttemptColumns {
    package static let all = "owner, key, fingerprint, time, id, text, completed, due, notes, position"
}
