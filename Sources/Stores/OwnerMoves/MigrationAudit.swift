import Basics
import JSON

/// The audit file of Microsoft's tool that copies users from B2C to External ID (`b2c-to-meeid-migration-tool`): one JSON
/// object, whose `SuccessfulUsers` have a `B2CObjectId` and an `ExternalIdObjectId`.
struct MigrationAudit {
    /// The longest file, in bytes; the tool writes one for each batch of users.
    static let longest = 16 << 20

    private let users: [JSONValue]

    /// Parses the whole file; nil if it is something else.
    init?(_ bytes: [UInt8]) {
        let limits = JSONLimits(bytes: Self.longest, depth: 8)
        guard let value = try? JSONValue(parsing: bytes, limits: limits),
            let users = value.object?["SuccessfulUsers"]?.array
        else { return nil }
        self.users = users
    }

    /// How many users it says were copied.
    var count: Int { users.count }

    /// The pair of a user, by position.
    ///
    /// Until commit 334c17e at least the tool does not write the new identifier: it repeats the old one, or writes `created`.
    func pair(_ position: Int) throws(OwnerPair.Fault) -> OwnerPair {
        let user = users[position].object
        guard let old = user?["B2CObjectId"]?.string.flatMap(GUID.canonical) else {
            throw OwnerPair.Fault(reason: "B2CObjectId is no GUID")
        }
        let advice = "make the map from Microsoft Graph instead (docs/migrate-to-external-id.md)"
        guard let new = user?["ExternalIdObjectId"]?.string.flatMap(GUID.canonical) else {
            throw OwnerPair.Fault(
                reason:
                    "ExternalIdObjectId is no GUID: the migration tool does not write the new identifier there; \(advice)"
            )
        }
        guard new != old else {
            throw OwnerPair.Fault(
                reason: "ExternalIdObjectId repeats B2CObjectId: the migration tool does not write the new identifier "
                    + "there; \(advice)")
        }
        return try OwnerPair(old: old, new: new)
    }
}
