import Basics
import HTTP
import IssuerKeys
import HTTPServer
import Settings
import TaskAPI
import Tokens

// The settings in the terms of each part.

extension ServerSettings {
    var issuerKeys: IssuerKeysConfiguration {
        var rules = ClaimRules(
            audiences: authority.clientIdentifiers, ownerClaim: OwnerClaim(tokens.ownerClaim),
            clockSkew: tokens.clockSkew.components.seconds)
        rules.scopes.required = RequiredScopes(read: tokens.readScope, write: tokens.writeScope)
        let documents = authority.documents
        rules.isMicrosoft = !documents.isEmpty && documents.allSatisfy(\.isMicrosoft)
        var configuration = IssuerKeysConfiguration(documents: documents, rules: rules)
        configuration.keyCacheFile = storage.keyCache
        configuration.tokenCacheEntries = tokens.cacheSize
        configuration.distrustedKeys = tokens.distrustedKeys
        return configuration
    }

    /// For the HTTP server that people reach.
    var serverLimits: ServerLimits {
        var limits = ServerLimits()
        limits.connections = self.limits.connections
        limits.suspensions = self.limits.connections
        limits.perAddress = self.limits.connectionsPerAddress(of: limits.connections)
        // Clients on this machine are the operator's: a proxy, a load test.
        limits.unlimited = ["127.0.0.0/8", "::1"].compactMap { IPAddressRange($0) }
        limits.trustedProxies = self.limits.trustedProxies
        return limits
    }

    /// For the HTTP server that operators reach.
    var operatorLimits: ServerLimits {
        var limits = ServerLimits()
        limits.connections = 64
        limits.loops = 2
        limits.suspensions = 64
        return limits
    }

    var page: PageConfiguration {
        // Browsers read this, and their network is not that of the server.
        let reached = authority.pageAddress ?? authority.address
        return PageConfiguration(
            authority: reached?.text ?? "",
            clientIdentifier: authority.clientIdentifiers.first ?? "", policies: authority.policies,
            scopes: tokens.scopesToAsk,
            authorizationServers: reached.map { [$0.text] } ?? authority.metadata.map(\.text))
    }
}

extension AuthoritySettings {
    /// Where keys come from: each policy of the authority, or each metadata document.
    var documents: [MetadataDocument] {
        guard let address else {
            return metadata.map { url in
                MetadataDocument(
                    metadataURL: url.text, pinnedIssuer: issuer, allowHTTP: allowHTTP, caFile: certificates)
            }
        }
        return policies.map { policy in
            MetadataDocument(
                authority: address.text, policy: policy, pinnedIssuer: issuer, allowHTTP: allowHTTP,
                caFile: certificates)
        }
    }
}

extension TokenSettings {
    /// Which origins may call.
    var crossOrigin: CrossOrigin {
        if origins == ["*"] { return .any }
        return .only(origins == ["off"] ? [] : origins)
    }
}
