@testable import IssuerKeys
import Support
import Testing
import Tokens

/// A real provider with the settings that an operator gives for it, and whether the server takes it so.
struct RecordedTrial: Sendable, CustomTestStringConvertible {
    /// What is configured besides the address of the metadata.
    enum Setting: Sendable {
        case issuer(String)

        /// As `docs/recorded-providers.md` shows it.
        var text: String {
            switch self {
            case .issuer(let value): "`TASKS_ISSUER=\(value)`"
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

    func source(_ recorded: RecordedProvider) -> KeySource {
        var source = KeySource(metadataURL: recorded.address)
        for setting in settings {
            switch setting {
            case .issuer(let value): source.pinnedIssuer = value
            }
        }
        return source
    }

    /// What `task-server check` says of it.
    func report() throws -> KeySourceReport {
        let recorded = try RecordedProvider.named(provider)
        let fake = FakeProvider()
        recorded.publish(to: fake)
        let reports = IssuerKeysConfiguration(keySources: [source(recorded)], rules: TestClaims.rules)
            .check(fetcher: fake)
        return reports[0]
    }

    /// One line of the table in `docs/recorded-providers.md`.
    func row() throws -> String {
        let report = try report()
        let count = try RecordedProvider.named(provider).keys.count
        let keys = report.keyIdentifiers.count
        let taken = report.problem != nil ? "no" : keys == count ? "\(keys)" : "\(keys) of \(count)"
        let words = report.problem ?? Self.skipped(report.skipped)
        return "| \(provider) | \(settings.map(\.text).joined(separator: "<br>")) | \(taken) | \(words) |"
    }

    /// The reasons why keys are skipped, each with the number of keys.
    private static func skipped(_ keys: [SkippedKey]) -> String {
        var reasons: [(text: String, count: Int)] = []
        for key in keys {
            if let index = reasons.firstIndex(where: { $0.text == key.reason }) {
                reasons[index].count += 1
            } else {
                reasons.append((key.reason, 1))
            }
        }
        return reasons.map { "\($0.count) skipped: \($0.text)" }.joined(separator: "<br>")
    }

    static let all = [
        RecordedTrial("Azure AD B2C, user flow", isTaken: true),
        RecordedTrial("Azure AD B2C, custom policy as ?p=", isTaken: true),
        RecordedTrial("Azure AD B2C at login.microsoftonline.com", isTaken: true),
        RecordedTrial("Entra External ID, by name", isTaken: false),
        RecordedTrial("Entra External ID, by GUID", isTaken: false),
        RecordedTrial("Entra ID, one tenant", isTaken: true),
        RecordedTrial("Entra ID, organizations", isTaken: true),
        RecordedTrial("Entra ID, common", isTaken: true),
        RecordedTrial("Entra ID, consumers", isTaken: true),
        RecordedTrial("Entra ID, common, version 1", isTaken: false),
        RecordedTrial("AD FS", isTaken: true),
        RecordedTrial("Auth0", isTaken: true),
        RecordedTrial("Docker (Auth0 with a domain of its own)", isTaken: true),
        RecordedTrial("Okta, custom authorization server", isTaken: true),
        RecordedTrial("Okta, organization", isTaken: true),
        RecordedTrial("OneLogin", isTaken: true),
        RecordedTrial("Keycloak", isTaken: true),
        RecordedTrial("authentik", isTaken: true),
        RecordedTrial("authentik without signing key", isTaken: false),
        RecordedTrial("Zitadel with web keys", isTaken: false),
        RecordedTrial("Supabase", isTaken: false),
        RecordedTrial("Amazon Cognito", isTaken: true),
        RecordedTrial("Google", isTaken: false),
        RecordedTrial("Firebase", isTaken: false),
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
        RecordedTrial("Klarna", isTaken: true),
        RecordedTrial("MojeID", isTaken: true),
        RecordedTrial("Verimi", isTaken: true),
        RecordedTrial("Battle.net", isTaken: false),
        RecordedTrial("Yahoo", isTaken: false),
        RecordedTrial("Stack Overflow", isTaken: false),
    ]
}
