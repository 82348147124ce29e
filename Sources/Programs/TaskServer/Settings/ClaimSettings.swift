import Basics
import Settings
import Tokens

/// The claims that a token of a source must carry.
struct ClaimSettings: Sendable {
    let audience: AudienceRules
    let ownerClaim: String
    let kind: TokenKind
    let longestLifetime: Duration
    let clockSkew: Duration
    /// The time from which its tokens are refused, in seconds since 1970.
    let end: Int64?

    var clientIdentifiers: [String] { audience.accepted }

    /// Reads the settings of the group that the reader is in; defaults follow from the provider.
    init(reading reader: inout SettingReader, of provider: ProviderSettings, named: Bool) {
        var audience = AudienceRules(
            accepted: reader.list(
                "CLIENT_ID",
                .word("ID", expected: "an application id", example: "580e250c-8f26-49d0-bee8-1c078add1609"),
                help: "The application ids that tokens must be issued for (their audience)."))
        audience.claim = reader.value(
            "AUDIENCE_CLAIM", .claim, default: "aud",
            help: "The claim that holds the audience; client_id for Amazon Cognito.")
        audience.match = reader.value(
            "AUDIENCE_MATCH", .choice, default: "one",
            help: "Whether a token may have other audiences beside a configured one (any), as those of Auth0 do.")
        self.audience = audience
        ownerClaim = reader.value(
            "OWNER_CLAIM", .claim, default: provider.ownerClaim(named: named),
            help:
                "The claim that identifies the owner of tasks; tid+oid with TASKS_TENANTS. Changing it later hides all "
                + "existing tasks.")
        kind = reader.value(
            "TOKEN_KIND", .choice, default: provider.tokenKind.rawValue,
            help: "The kind of token that is accepted. The default is any for Azure AD B2C, whose old clients send ID "
                + "tokens, and access for every other provider.")
        longestLifetime = reader.value(
            "MAX_LIFETIME", .duration(.seconds(60) ... .seconds(604_800), example: "28h"), default: "1d",
            help: "The longest lifetime of a token; some of Entra's live for 28 hours.")
        clockSkew = reader.value(
            "CLOCK_SKEW", .duration(.zero ... .seconds(300), example: "60s"), default: "60s",
            help: "How much the clocks of the authority and this machine may differ.")
        end = reader.optional(
            "UNTIL", .day, absence: "without end", help: "The day from whose beginning (UTC) its tokens are refused.")
    }
}

extension ProviderSettings {
    /// The claim that identifies a person: `oid` only within one tenant (P-16), and only at Microsoft.
    fileprivate func ownerClaim(named: Bool) -> String {
        if !tenants.isEmpty { return "tid+oid" }
        return named && kind == .other ? "sub" : "oid"
    }

    /// The old clients of B2C send ID tokens.
    fileprivate var tokenKind: TokenKind {
        switch kind {
        case .b2c: .any
        case .externalID, .microsoft, .other: .access
        }
    }
}

struct ScopeSettings: Sendable {
    let claim: ScopeClaim
    /// The scope that a client asks for; Microsoft wants the address of the API in front of the name.
    let read: String?
    let write: String?

    init(reading reader: inout SettingReader) {
        claim = reader.value(
            "SCOPE_CLAIM", .choice, default: "auto",
            help: "The claim that holds the scopes; auto is scp if the token has it, else scope.")
        read = reader.optional(
            "READ_SCOPE", .scope, absence: "none",
            help:
                "The scope that a token must have to read tasks; for Microsoft, with the address of the API before it.")
        write = reader.optional(
            "WRITE_SCOPE", .scope, absence: "none",
            help:
                "The scope that a token must have to change tasks; for Microsoft, with the address of the API before it."
        )
    }

    var toAsk: [String] { [read, write].compactMap(\.self) }

    /// The rules for tokens of a provider of this kind.
    ///
    /// Microsoft's tokens carry what comes after the last slash: `tasks.read` of
    /// `https://contoso.onmicrosoft.com/tasks/tasks.read`. Tokens of other providers carry the whole scope.
    func rules(_ kind: ProviderKind) -> ScopeRules {
        let name = { (scope: String) in
            kind == .other ? scope : scope.split(separator: "/").last.map { String($0) } ?? scope
        }
        var rules = ScopeRules()
        rules.claim = claim
        rules.required = RequiredScopes(read: read.map(name), write: write.map(name))
        return rules
    }
}

extension SettingKind where Value == String {
    fileprivate static let claim = text("CLAIM", expected: "the name of a claim", example: "sub")

    /// One scope: a token of RFC 6749 section 3.3, with a name at its end.
    fileprivate static let scope = SettingKind(
        placeholder: "SCOPE", expected: "one scope, without spaces",
        example: "https://contoso.onmicrosoft.com/tasks/tasks.read"
    ) { text in
        let isScope = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        return isScope && !text.isEmpty && !text.hasSuffix("/") ? text : nil
    }
}

extension SettingKind where Value == Int64 {
    /// A day; its beginning in UTC, in seconds since 1970.
    fileprivate static let day = SettingKind(placeholder: "DAY", expected: "a day", example: "2027-01-31") { text in
        CivilDate(text).map { $0.daysSince1970 * 86_400 }
    }
}
