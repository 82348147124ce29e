import Basics
import JSON

/// The verdict on a token, with every member of its header and claims beside what the member is compared with.
///
/// An explanation quotes claims, so it must not reach a log.
package struct TokenExplanation: Sendable {
    /// One member, in printable ASCII, so that no text of a token can control a terminal.
    package struct Member: Sendable {
        package let name: String
        /// JSON; nil if the token lacks the member, with which a rule compares something.
        package let value: String?
        /// The time that the member tells, in seconds since 1970, rounded down; nil if it tells none.
        package let moment: Int64?
        /// The values that are accepted, as JSON; empty if the member is compared with none.
        package let accepted: [String]
    }

    /// The accepted values of a member, which may have one of several names; the first is the usual one.
    package typealias Accepted = [(names: [String], values: [String])]

    /// The person, or the first rule that the token breaks.
    package let verdict: Result<Principal, TokenRefusal>
    package let header: [Member]
    /// The claims; none if the header or the claims cannot be read.
    package let claims: [Member]

    package var refusal: TokenRefusal? { if case .failure(let refusal) = verdict { refusal } else { nil } }

    package init(of token: String, _ verdict: Result<Principal, TokenRefusal>, header: Accepted, claims: Accepted) {
        self.verdict = verdict
        let compact = try? CompactToken(token)
        let members = compact.flatMap { try? JOSEHeader.members(of: $0) }
        self.header = members.map { Self.members($0, header) } ?? []
        let read = compact.flatMap { try? Claims(of: $0) }
        self.claims = read.map { Self.members($0.members, claims) { try? read?.moment($0) } } ?? []
    }

    private static func members(
        _ members: JSONMembers, _ accepted: Accepted, _ moment: (String) -> Double? = { _ in nil }
    ) -> [Member] {
        let missing = accepted.filter { row in
            !row.values.isEmpty && row.names.allSatisfy { members[$0] == nil }
        }.map { $0.names[0] }
        return (members.names + missing).map { name in
            let isTime = ["exp", "nbf", "iat", "auth_time"].contains(name)
            let values = accepted.first { $0.names.contains(name) }?.values ?? []
            return Member(
                name: visible(name), value: members[name].map(visible),
                moment: isTime ? moment(name).map { Int64($0.rounded(.down)) } : nil,
                accepted: values.map { visible(.string($0)) })
        }
    }

    private static func visible(_ value: JSONValue) -> String {
        visible(String(decoding: value.serialized(), as: UTF8.self))
    }

    /// Returns the text with all but printable ASCII as `\u{...}`, cut after 256 characters.
    private static func visible(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            scalar.value >= 0x20 && scalar.value < 0x7F ? String(scalar) : scalar.escaped(asASCII: true)
        }
        return escaped.count > 256 ? escaped.prefix(256).joined() + "..." : escaped.joined()
    }
}

extension ClaimRules {
    /// The values with which these rules compare the claims of a token of these issuers.
    package func accepted(from issuers: [TokenIssuer]) -> TokenExplanation.Accepted {
        [
            (["iss"], issuers.map(\.identifier).withoutDuplicates), (["tid"], tenants?.listed ?? []),
            ([audience.claim, "aud"], audience.accepted),
            (["tfp", "acr"], issuers.compactMap(\.policy).withoutDuplicates),
        ]
    }
}
