import Basics
@testable import IssuerKeys
import Support
import Testing
import Tokens

/// A real provider with the settings that an operator gives for it, and whether the server takes it so.
struct RecordedTrial: Sendable, CustomTestStringConvertible {
    /// What is configured of the documents; the address of the metadata, if no authority is.
    enum Setting: Sendable {
        case authority(String)
        case policy(String)
        case issuer(String)
        case keyHosts(String)
        case tenants(String)

        /// As `README.md` shows it.
        var text: String {
            switch self {
            case .authority(let value): "`TASKS_AUTHORITY=\(value)`"
            case .policy(let value): "`TASKS_POLICIES=\(value)`"
            case .issuer(let value): "`TASKS_ISSUER=\(value)`"
            case .keyHosts(let value): "`TASKS_KEY_HOSTS=\(value)`"
            case .tenants(let value): "`TASKS_TENANTS=\(value)`"
            }
        }
    }

    let provider: String
    let settings: [Setting]
    let isTaken: Bool

    init(_ provider: String, _ settings: Setting..., isTaken: Bool) {
        self.provider = provider
        self.settings = settings
        self.isTaken = isTaken
    }

    var testDescription: String { ([provider] + settings.map(\.text)).joined(separator: " ") }

    /// What the settings make of it.
    func source(_ recorded: RecordedProvider) -> TokenSource {
        var authority: String?
        var policy: String?
        var issuer: String?
        var keyHosts: [String] = []
        var rules = TestClaims.rules
        for setting in settings {
            switch setting {
            case .authority(let value): authority = value
            case .policy(let value): policy = value
            case .issuer(let value): issuer = value
            case .keyHosts(let value): keyHosts.append(value)
            case .tenants(let value): rules.tenants = AllowedTenants(listed: [value])
            }
        }
        let document =
            authority.map { MetadataDocument(authority: $0, policy: policy, pinnedIssuer: issuer) }
            ?? MetadataDocument(metadataURL: recorded.address, pinnedIssuer: issuer)
        var source = TokenSource(documents: [document], rules: rules)
        source.keyHosts = keyHosts
        return source
    }

    /// What `task-server check` says of it.
    func report() throws -> DocumentReport {
        let recorded = try RecordedProvider.named(provider)
        let fake = FakeProvider()
        recorded.publish(to: fake)
        return try #require(IssuerKeysConfiguration(sources: [source(recorded)]).check(fetcher: fake).first)
    }

    /// One line of the table in `README.md`.
    func row() throws -> String {
        let report = try report()
        let count = try RecordedProvider.named(provider).keys.count
        let settings = settings.isEmpty ? "`TASKS_METADATA_URL`" : settings.map(\.text).joined(separator: "<br>")
        guard report.trusted != nil else {
            return "| \(provider) | \(settings) | no | \(report.problem ?? "") |"
        }
        let keys = report.keys.count
        let taken = keys == count ? "\(keys)" : "\(keys) of \(count)"
        return "| \(provider) | \(settings) | \(taken) | \(Self.skipped(report.skipped)) |"
    }

    /// The reasons why keys are skipped, each with the number of keys.
    private static func skipped(_ keys: [SkippedKey]) -> String {
        let all = keys.map(\.reason)
        return all.withoutDuplicates.map { reason in "\(all.count { $0 == reason }) skipped: \(reason)" }
            .joined(separator: "<br>")
    }
}

extension RecordedTrial {
    private static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    private static let entra = "https://login.microsoftonline.com"
    private static let b2c = "https://contoso.b2clogin.com/contoso.onmicrosoft.com"

    static let all = [
        RecordedTrial("Azure AD B2C, user flow", .authority(b2c), .policy("b2c_1_sign_in"), isTaken: true),
        RecordedTrial("Azure AD B2C, custom policy as ?p=", isTaken: true),
        RecordedTrial(
            "Azure AD B2C at login.microsoftonline.com", .authority("\(entra)/contoso.onmicrosoft.com"),
            .policy("b2c_1_sign_in"), isTaken: true),
        RecordedTrial("Entra External ID, by name", .authority("https://contoso.ciamlogin.com/"), isTaken: true),
        RecordedTrial("Entra External ID, by name", isTaken: true),
        RecordedTrial(
            "Entra External ID, by GUID", .authority("https://contoso.ciamlogin.com/\(tenant)"), isTaken: true),
        RecordedTrial("Entra ID, one tenant", .authority("\(entra)/\(tenant)"), isTaken: true),
        RecordedTrial("Entra ID, organizations", .authority("\(entra)/organizations"), isTaken: false),
        RecordedTrial(
            "Entra ID, organizations", .authority("\(entra)/organizations"), .tenants(tenant), isTaken: true),
        RecordedTrial("Entra ID, common", .authority("\(entra)/common"), isTaken: false),
        RecordedTrial("Entra ID, common", .authority("\(entra)/common"), .tenants(tenant), isTaken: true),
        RecordedTrial("Entra ID, consumers", .authority("\(entra)/consumers"), isTaken: true),
        RecordedTrial("Entra ID, common, version 1", .tenants(tenant), isTaken: false),
        RecordedTrial(
            "Entra ID, common, version 1", .issuer("https://sts.windows.net/{tenantid}/"), .tenants(tenant),
            isTaken: true),
        RecordedTrial("AD FS", isTaken: true),
        RecordedTrial("Auth0", isTaken: true),
        RecordedTrial("Docker (Auth0 with a domain of its own)", isTaken: true),
        RecordedTrial("Okta, custom authorization server", isTaken: true),
        RecordedTrial("Okta, organization", isTaken: true),
        RecordedTrial("OneLogin", isTaken: true),
        RecordedTrial("Keycloak", isTaken: true),
        RecordedTrial("authentik", isTaken: true),
        RecordedTrial("authentik without signing key", isTaken: false),
        RecordedTrial("Zitadel with web keys", isTaken: true),
        RecordedTrial("Supabase", isTaken: true),
        RecordedTrial("Amazon Cognito", isTaken: true),
        RecordedTrial("Google", isTaken: false),
        RecordedTrial("Google", .keyHosts("www.googleapis.com"), isTaken: true),
        RecordedTrial("Firebase", isTaken: false),
        RecordedTrial("Firebase", .keyHosts("www.googleapis.com"), isTaken: true),
        RecordedTrial("Apple", isTaken: true),
        RecordedTrial("Facebook", isTaken: true),
        RecordedTrial("GitLab", isTaken: true),
        RecordedTrial("LinkedIn", isTaken: true),
        RecordedTrial("Slack", isTaken: true),
        RecordedTrial("Discord", isTaken: true),
        RecordedTrial("Twitch", isTaken: true),
        RecordedTrial("Spotify", isTaken: true),
        RecordedTrial("Dropbox", isTaken: true),
        RecordedTrial("PayPal", isTaken: false),
        RecordedTrial("PayPal", .keyHosts("api.paypal.com"), isTaken: true),
        RecordedTrial("Klarna", isTaken: true),
        RecordedTrial("MojeID", isTaken: true),
        RecordedTrial("Verimi", isTaken: true),
        RecordedTrial("Battle.net", isTaken: false),
        RecordedTrial("Yahoo", isTaken: true),
        RecordedTrial("Stack Overflow", isTaken: false),
    ]
}
