import Basics

/// The claim with the scopes of a token, and the scopes that are required (V-59, P-26).
package struct ScopeRules: Sendable, Equatable {
    package var claim = ScopeClaim.scp
    package var required = RequiredScopes()

    package init() {}
}

/// The scopes that reading and changing tasks require; nil requires none.
package struct RequiredScopes: Sendable, Equatable {
    package var read: String?
    package var write: String?

    package init(read: String? = nil, write: String? = nil) {
        self.read = read
        self.write = write
    }

    /// Returns the required scopes that are not among these.
    func missing(from scopes: [String]) -> RequiredScopes {
        RequiredScopes(read: read.flatMap { Self.absent($0, scopes) }, write: write.flatMap { Self.absent($0, scopes) })
    }

    private static func absent(_ scope: String, _ scopes: [String]) -> String? {
        scopes.contains { $0.isSame(as: scope) } ? nil : scope
    }

    /// All required scopes in one text, as in the parameter `scope` of a challenge; nil if none is required.
    var list: String? {
        guard let read else { return write }
        guard let write, !write.isSame(as: read) else { return read }
        return "\(read) \(write)"
    }
}

/// The claim that holds the scopes (P-26).
package enum ScopeClaim: String, Sendable, CaseIterable {
    /// `scp`, a string (Microsoft) or an array (Okta).
    case scp
    /// `scope`, a string (RFC 9068 section 2.2.3).
    case scope
    /// `scp` if the token has it, else `scope`; if the token has both, they must be equal.
    case automatic = "auto"
}
