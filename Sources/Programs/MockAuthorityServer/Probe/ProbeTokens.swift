import Basics
import JSON
import MockAuthority

/// The tokens that an API should refuse.
extension Probe {
    /// The bad tokens of the mock's list; what lacks a scope breaks a rule only at an API that requires one.
    ///
    /// The key of `retired-key` is that which this probe withdrew, and ``judgeCache(of:since:)`` judges it.
    func badTokens() throws(OperatorError) -> [ProbedToken] {
        let entries = try mock.ask("token/bad").array ?? []
        let requiresScope = options.requiresScope
        return entries.filter { entry in
            entry.text("name") != "retired-key"
                && entry.member(requiresScope ? "statusWithScopes" : "status").integer != 200
        }.map { entry in
            let isForScopes = entry.member("statusWithScopes").integer == 403
            let kind = isForScopes && !requiresScope ? nil : BadTokenRule.Kind(rawValue: entry.text("kind"))
            let rule = kind.map {
                BadTokenRule(
                    kind: $0, danger: entry.text("danger"), source: entry.text("forbiddenBy"),
                    remedy: entry.text("remedy"))
            }
            return ProbedToken(name: entry.text("name"), words: entry.text("words"), rule: rule)
        }
    }

    /// Sends what is good but for one thing that the mock's list cannot know.
    mutating func sendOthers(_ claims: JSONValue) throws(OperatorError) {
        try measureSkew()
        try sendScopeAsRole(claims)
        try sendOtherTenants()
        for client in try mock.ask("registration").member("clients").array ?? [] {
            let id = client.text("id")
            if options.trusted.contains(id) { continue }
            try sendOtherClient(id, claims)
        }
    }

    /// Finds out for how long after `exp` a token is accepted.
    private mutating func measureSkew() throws(OperatorError) {
        if wasAccepted("expired") { return }
        var (accepted, status) = (0, 0)
        for seconds in [30, 60, 120, 240, 290, 330, 600] {
            status = try self.status(token([("exp", "-\(seconds)s")]))
            guard status.isSuccess else { break }
            accepted = seconds
        }
        let sent = ProbedToken(
            name: "clock-skew", words: "exp is \(accepted == 0 ? 30 : accepted) s ago", rule: .expiry)
        let text = "A token is good for \(accepted) s after its end."
        let finding: ProbeResult.Finding? =
            switch accepted {
            case 0: .failure(status)
            case 1...300: .note("\(text) That is leeway for clocks; a minute is enough.")
            default: .breach("\(text) Above 5 minutes it is no leeway for clocks.", BadTokenRule.expiry.remedy)
            }
        add(sent, accepted == 0 ? status : 200, finding)
    }

    /// A scope says what an application may do for a person, and a role what a person or a daemon is.
    private mutating func sendScopeAsRole(_ claims: JSONValue) throws(OperatorError) {
        let name = ["scp", "scope"].first { claims.member($0).string != nil }
        guard options.requiresScope, let name else { return }
        let words = claims.text(name).split(separator: " ").map { JSONValue.string(String($0)) }
        let roles = String(decoding: JSONValue.array(words).serialized(), as: UTF8.self)
        let sent = ProbedToken(
            name: "scope-in-roles", words: "the scope is in roles, and \(name) is missing", rule: .scope)
        try send(sent, token([("drop", name), ("claim", "roles=\(roles)")]))
    }

    /// Sends good tokens of other tenants, and tokens that the keys of other tenants sign.
    private mutating func sendOtherTenants() throws(OperatorError) {
        for other in try mock.ask("registration").member("tenants").array ?? [] where other.member("isShown") == false {
            let (id, title) = (other.text("id"), "\(other.text("title")), \(other.text("name"))")
            let tenant = RunningMock(
                address: mock.address, caFile: mock.caFile,
                tenant: [("profile", other.text("profile")), ("tenant", id)])
            if !options.trusted.contains(id), let user = try? tenant.firstUser() {
                let sent = ProbedToken(
                    name: "tenant-\(id)", words: "a good token of another tenant: \(title)", rule: .issuer)
                try send(sent, tenant.token([("user", user)]))
            }
            let kid = try tenant.ask("keys").activeKey
            if !knownKeys.contains(kid) {
                let sent = ProbedToken(
                    name: "key-of-\(id)", words: "signed by the key of another tenant: \(title)", rule: .key)
                try send(sent, token([("kid", kid)]))
            }
        }
    }

    /// Sends a good token for another application, and one for the API that another application was given.
    private mutating func sendOtherClient(_ id: String, _ claims: JSONValue) throws(OperatorError) {
        let other = try mock.token([("user", mock.firstUser()), ("client", id)])
        if other.claims.member("aud") != claims.member("aud") {
            try send(
                ProbedToken(name: "client-\(id)", words: "a good token for another application", rule: .audience), other
            )
        }
        guard let name = ["azp", "appid", "client_id"].first(where: { claims.member($0).string != nil }),
            claims.text(name) != id, !wasAccepted("other-caller")
        else { return }
        let isNamed = options.tokenQuery.contains { $0.name == "client" }
        try send(
            ProbedToken(
                name: "other-caller", words: "another application got it for this API (\(name))",
                rule: isNamed ? .caller : nil), token([("claim", "\(name)=\(id)")]))
    }
}
