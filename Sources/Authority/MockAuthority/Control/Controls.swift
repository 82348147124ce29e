import Basics
import HTTP
import JSON

extension MockAuthority {
    /// Answers a request to a control, about the tenant that `profile=` and `tenant=` name.
    ///
    /// Without these parameters, the request is about the tenant of the policies.
    func control(_ host: HostContext) async throws(UnknownRun) -> Decision {
        if let refusal = host.refusalOfControl { return .respond(refusal) }
        let tenant: TenantAuthority
        do throws(InputError) {
            tenant = try self.tenant(Parameters(host.head.target.query))
        } catch {
            return .respond(Response.text(error.message, status: 400))
        }
        // A page of another site can let a browser send a GET, but not a POST that looks like one of this machine.
        let mayMakeRun = ![.get, .head].contains(host.head.method)
        guard !mayMakeRun || tenant.runs.names.add(host.runName) else { return .respond(tooManyRuns) }
        let run = try tenant.runs.run(host.runName)
        return await host.with(tenant, run).control()
    }

    private var tooManyRuns: Response {
        Response.text(
            "There are \(TestRunNames.most) test runs already. Use one of them again (POST /_mock/reset?run=NAME), or "
                + "restart the mock.", status: 503)
    }

    /// The tenant of this domain or id, or else the first tenant of the profile.
    private func tenant(_ query: Parameters) throws(InputError) -> TenantAuthority {
        let all = [b2c] + others
        let profile = query["profile"].map { TenantProfile(rawValue: $0) } ?? configuration.profile
        guard let profile else {
            let known = TenantProfile.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError(message: "There is no profile '\(query["profile"] ?? "")'. Known: \(known).")
        }
        let ofProfile = all.filter { $0.configuration.profile == profile }
        guard let name = query["tenant"] else {
            if let first = ofProfile.first { return first }
            throw InputError(message: "No tenant of the profile '\(profile.rawValue)' is configured.")
        }
        if let tenant = ofProfile.first(where: { $0.configuration.tenant.isCalled(name) }) { return tenant }
        let known = ofProfile.map(\.configuration.tenant.name).joined(separator: ", ")
        throw InputError(message: "There is no tenant '\(name)' of this profile. Known: \(known).")
    }
}

/// `/_mock/...`: controls for tests and people, which are no part of the protocol.
///
/// Each control takes `run=`, the name of a test run, in its query; without it, the run is that of tenant URLs without one.
extension HostContext {
    var runName: String { head.target["run"]?.lowercased() ?? "" }

    fileprivate func control() async -> Decision {
        let rows = (Routes.controls + Routes.ofDeveloperPage).filter { $0.matches(head.target.path) }
        return rows.isEmpty ? .respond(unknownControl) : await rows.decide(head.method, self)
    }

    private var unknownControl: Response {
        let lines = Routes.controls.map { "  \($0.methods.map(\.name).joined(separator: ", ")) /\($0.path)" }
        return Response.text(
            """
            No such control. There are, all with ?run= for tests in parallel:
            \(lines.joined(separator: "\n"))
            """, status: 404)
    }

    private var wantsJSON: Bool { head.headers.preferJSON }

    var users: Response { Response.json(.array(run.directory.all.map(\.json))) }

    var requests: Response { Response.json(.array(run.recordedRequests.after(0).map { .object($0.entry) })) }

    func reset() -> Response {
        let new = authority.runs.reset(runName, run)
        return Response.json(with(authority, new).state)
    }

    var badTokens: Response {
        let entries = BadToken.all(of: configuration.profile)
        if wantsJSON { return Response.json(.array(entries.map(\.json))) }
        return Response.text(entries.map(\.line).joined(separator: "\n"))
    }

    func testToken() async -> Response {
        do throws(InputError) {
            let specification = try TokenSpecification(Parameters(head.target.query), configuration.profile)
            return wantsJSON
                ? Response.json(try await tokenResponse(specification))
                : Response.text(try await token(specification))
        } catch {
            return Response.text(error.message, status: 400)
        }
    }
}
