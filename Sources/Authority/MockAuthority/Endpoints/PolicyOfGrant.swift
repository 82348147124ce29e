import HTTP

extension MockAuthority {
    /// Decides a token request whose URL names no policy: the policy is `p` of the body, else that of the grant.
    ///
    /// The sample for iOS with ADAL has versions that name the policy only in the authorization request.
    func decideByGrant(_ head: RequestHead, _ url: PolicyURL, run: TestRun, base: String) -> Decision {
        .readBody(limit: RequestHead.longestBody) { body in
            let parameters = Parameters(body: body, type: head.contentType)
            guard let policy = self.policy(of: parameters) else { return .respond(self.notFound(head, base)) }
            let context = RequestContext(
                authority: self.b2c, head: head, url: url, policy: policy, run: run, base: base)
            return .later { await self.answer(context).given(body) }
        }
    }

    private func policy(of parameters: Parameters) -> Policy? {
        let grant = parameters["code"] ?? parameters["refresh_token"]
        let name = parameters["p"] ?? grant.flatMap { b2c.seal.open($0).flatMap(Grant.init)?.binding.policy }
        return name.flatMap(configuration.policy(named:))
    }
}

extension PolicyURL {
    /// Whether it is the token endpoint of a policy that it does not name.
    var isTokenEndpointWithoutPolicy: Bool {
        policy == nil && form == .query && routes.contains { $0.path == Routes.token.path }
    }
}

extension Decision {
    /// The decision about a body that has been read already.
    fileprivate func given(_ body: [UInt8]) -> Decision {
        guard case .readBody(_, let decide) = self else { return self }
        return decide(body)
    }
}
