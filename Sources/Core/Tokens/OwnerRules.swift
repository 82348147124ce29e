import Basics

/// The rules by which a token names the owner of tasks (V-57, P-14).
package struct OwnerRules: Sendable, Equatable {
    package var claim: OwnerClaim
    /// The text before the value of the claim: `ext:`, or nothing.
    package var prefix = ""
}

/// The claim, or claims, that identify a person.
package enum OwnerClaim: Sendable, Equatable {
    /// `oid`, a GUID.
    case objectIdentifier
    /// `tid` and `oid`, both GUIDs: an object id is unique only in its tenant (P-16). The value is `<tid>+<oid>`.
    case tenantAndObject
    /// Any other claim, whose value is any text.
    case other(String)

    /// Reads the text of the settings: `oid`, `tid+oid`, or the name of another claim.
    package init(_ text: String) {
        if text.isSame(as: "oid") {
            self = .objectIdentifier
        } else if text.isSame(as: "tid+oid") {
            self = .tenantAndObject
        } else {
            self = .other(text)
        }
    }

    /// Whether every value consists of GUIDs, so that no value can look like one with a namespace before it (P-14).
    package var isGUID: Bool { if case .other = self { false } else { true } }

    var names: [String] {
        switch self {
        case .objectIdentifier: ["oid"]
        case .tenantAndObject: ["tid", "oid"]
        case .other(let name): [name]
        }
    }
}
