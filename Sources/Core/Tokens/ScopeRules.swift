import Basics

/// Where the scopes of a token are, and which of them are required (V-59, P-26).
package struct ScopeRules: Sendable, Equatable {
    package var claim = ScopeClaim.scp
    package var required = RequiredScopes()

    package init() {}
}

/// The scopes that reading and changing tasks require; nothing: none.
package struct RequiredScopes: Sendable, Equatable {
    package var read: String?
    package var write: String?

    package init(read: String? = nil, write: String? = nil) {
        self.read = read
        self.write = write
    }

    /// Those of them that are not among these.
    func missing(from scopes: [String]) -> RequiredScopes {
        RequiredScopes(read: read.flatMap { Self.absent($0, scopes) }, write: write.flatMap { Self.absent($0, scopes) })
    }

    private static func absent(_ scope: String, _ scopes: [String]) -> String? {
        scopes.contains { $0.isSame(as: scope) } ? nil : scope
    }

    /// All of them in one text, as the parameter `scope` of a challenge has them; nothing if none is required.
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
    /// `scp` if the token has it, else `scope`; if it has both, they must be equal.
    case automatic = "auto"
}
