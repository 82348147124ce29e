import Basics
import HTTP
import IssuerKeys
import HTTPServer
import Settings
import TaskAPI
import Tasks
import Tokens

// The settings in the terms of each part.

extension ServerSettings {
    var issuerKeys: IssuerKeysConfiguration {
        var configuration = IssuerKeysConfiguration(sources: sources.all.map(\.source))
        configuration.keyCacheFile = storage.keyCache
        configuration.tokenCacheEntries = tokens.cacheSize
        configuration.distrustedKeys = tokens.distrustedKeys
        return configuration
    }

    /// The addresses to listen on, each with its setting, and whether it speaks TLS.
    var addresses: [(setting: String, address: ListenAddress, isSecure: Bool)] {
        listen.map { ("TASKS_LISTEN", $0, transport.isSecure) }
            + (adminListen.map { [("TASKS_ADMIN_LISTEN", $0, false)] } ?? [])
    }

    /// The limits of the HTTP server that people reach.
    var serverLimits: ServerLimits {
        var limits = ServerLimits()
        limits.streams = self.limits.streams
        limits.connections = self.limits.connections + limits.streams
        limits.suspensions = self.limits.connections
        limits.idleTime = self.limits.keepAlive
        // Clients on this machine belong to the operator, such as a proxy or a load test.
        limits.unlimited = ["127.0.0.0/8", "::1"].compactMap { IPAddressRange($0) }
        limits.trustedProxies = self.limits.trustedProxies
        return limits
    }

    /// The limits of the HTTP server that operators reach.
    var operatorLimits: ServerLimits {
        var limits = ServerLimits()
        limits.connections = 64
        limits.loops = 2
        limits.suspensions = 64
        return limits
    }

    /// Browsers sign in at the first source; their network is not that of the server.
    ///
    /// The page adds `/<policy>/v2.0` to the authority of B2C. Without policies it adds nothing, so Entra's authority
    /// is given with its version, and that of External ID with its tenant as well (P-3).
    var page: PageConfiguration {
        let first = sources.all.first
        let pageAddress = pageAddress.map { MetadataAddress.tenantAndPolicy(ofAuthority: $0.text)?.tenant ?? $0 }
        let address = (pageAddress ?? first?.provider.address)?.text ?? ""
        let isEntra = first?.provider.kind == .externalID || first?.provider.kind == .microsoft
        return PageConfiguration(
            authority: isEntra && !address.isEmpty ? MetadataAddress.base(ofAuthority: address) : address,
            clientIdentifier: first?.claims.clientIdentifiers.first ?? "", policies: first?.provider.policies ?? [],
            scopes: first?.scopes.toAsk ?? [])
    }
}
