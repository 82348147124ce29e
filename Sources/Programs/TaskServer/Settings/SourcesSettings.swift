import Basics
import IssuerKeys
import Settings
import Tokens

/// All sources of tokens: that of the settings without a name, and named ones beside it (P-1).
struct SourcesSettings: Sendable {
    private let unnamed: SourceSettings
    private let named: [SourceSettings]

    init(reading reader: inout SettingReader) {
        unnamed = SourceSettings(reading: &reader, name: nil)
        named = reader.groups(
            "SOURCE",
            help: "The names of further providers, whose tokens are accepted as well; each has settings of its own."
        ) { reader, name in SourceSettings(reading: &reader, name: name) }
    }

    /// All sources in their order, at least one; the source without a name comes first, if it is configured.
    var all: [SourceSettings] { unnamed.isGiven || named.isEmpty ? [unnamed] + named : named }

    /// Whether a setting of any source is given.
    var isGiven: Bool { unnamed.isGiven || !named.isEmpty }

    /// The scopes that clients of the sources ask for, each once.
    var scopesToAsk: [String] { all.flatMap(\.scopes.toAsk).withoutDuplicates }

    /// The mistakes with which a server does not start.
    var mistakes: [String] {
        let own = all.flatMap { $0.whatIsMissing + $0.whatIsUnsafe }
        return own + sameProviders
    }

    /// Finds two sources of one provider, since a token could belong to either (P-2).
    private var sameProviders: [String] {
        all.indices.flatMap { index in
            all[..<index].compactMap { first -> String? in
                let second = all[index]
                guard let address = second.location(sharedWith: first) else { return nil }
                let word = second.provider.address == nil ? "METADATA_URL" : "AUTHORITY"
                return "\(second.setting(word)): \(address) is of the provider of "
                    + "\(first.name.map { "the source \($0)" } ?? "TASKS_AUTHORITY or TASKS_METADATA_URL"), and a token "
                    + "belongs to one source. Policies of one tenant belong into one source."
            }
        }
    }
}

extension SourceSettings {
    /// Returns the address of a document that belongs to the provider of another source, if there is one.
    fileprivate func location(sharedWith other: SourceSettings) -> String? {
        let known = other.source.documents.compactMap { MetadataLocation($0.metadataURL) }
        return source.documents.map(\.metadataURL).first { address in
            guard let location = MetadataLocation(address) else { return false }
            // One host may serve a tenant of B2C and the same tenant of External ID: their issuers differ.
            return known.contains { ($0.policy == nil) == (location.policy == nil) && location.isSameProvider(as: $0) }
        }
    }
}
