import Basics
import HTTP
import JSON
import Synchronization

/// The page on which developers see what the authority did, and use the controls.
///
/// The page is below `/_mock`, so the rules of ``HostContext/refusalOfControl`` decide who may use it.
extension HostContext {
    /// `GET /_mock`: the page may load its own script and style only, and no other page may put it into a frame.
    ///
    /// With `no-referrer` browsers would write `Origin: null` into the requests of the page, and they would be refused.
    static let developerPage = Response.content(
        PackageResources.developer_html, "text/html",
        headers: [
            "Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'",
        ])
    static let developerStyle = Response.content(
        PackageResources.common_css + PackageResources.developer_css, "text/css", headers: fieldsOfFiles)
    static let developerScript = Response.content(
        PackageResources.developer_js, "text/javascript", headers: fieldsOfFiles)

    /// The files change only with the program.
    private static let fieldsOfFiles: FieldLines = ["Cache-Control": "no-cache"]

    /// How many requests the page shows; the control shows all that are kept.
    private static let shownRequests = 50

    /// `GET /_mock/live`: the requests and tokens after the numbers that the page has, and the faults that wait.
    ///
    /// A reset begins a new run, whose entries begin with 1 again, so `of` says from which run the numbers are.
    var live: Response {
        let isSame = head.target["of"] == run.identifier
        func number(_ name: String) -> Int { isSame ? head.target[name].flatMap { Int($0) } ?? 0 : 0 }
        let requests = run.recordedRequests.after(number("requests")).suffix(Self.shownRequests).map { recent in
            var entry = recent.entry
            entry["number"] = .integer(Int64(recent.number))
            return JSONValue.object(entry)
        }
        let tokens = run.issuedTokens.after(number("tokens")).map { recent -> JSONValue in
            [
                "number": .integer(Int64(recent.number)), "at": .integer(recent.entry.time),
                "token": .string(recent.entry.token), "defect": recent.entry.defect.map { .string($0) } ?? .null,
            ]
        }
        return Response.json([
            "of": .string(run.identifier), "requests": .array(requests), "tokens": .array(tokens),
            "faults": .array(run.faults.withLock { $0 }.map(\.json)),
        ])
    }

    /// `GET /_mock/registration`: what does not change while the authority runs.
    var registration: Response {
        let applications = configuration.applications
        let settings = mock.configuration.clientSettings(base)
        return Response.json([
            "version": .string(programVersion), "tenant": tenantJSON(authority),
            "tenants": .array(mock.tenants.map(tenantJSON)),
            "clients": .array(applications.clients.map(\.json)),
            "resources": .array(applications.resources.map(\.json)),
            "policies": .array(configuration.policies.filter { !$0.name.isEmpty }.map(policyJSON)),
            "clientSettings": .array(settings.map { ["kind": .string($0.kind), "text": .string($0.text)] }),
        ])
    }

    /// A tenant with policies has no metadata, since each policy has metadata of its own.
    private func tenantJSON(_ tenant: TenantAuthority) -> JSONValue {
        let configuration = tenant.configuration
        let tenantOf = configuration.tenant
        let page = configuration.policies.first { $0.name.isEmpty }
        return [
            "title": .string(tenant.provider.traits.title), "profile": .string(configuration.profile.rawValue),
            "name": .string(tenantOf.name), "id": .string(tenantOf.id), "isShown": .boolean(tenant === authority),
            "metadata": page.map { .string(configuration.metadataAddress(of: $0, at: "")) } ?? .null,
        ]
    }

    private func policyJSON(_ policy: Policy) -> JSONValue {
        [
            "name": .string(policy.name), "kind": .string(policy.kind.rawValue),
            "metadata": .string(configuration.metadataAddress(of: policy, at: "")),
        ]
    }
}

extension Client {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "secret": secret.map { .string($0) } ?? .null,
            "redirectURIs": .array(redirectURIs.map { .string($0) }),
        ]
    }
}

extension Resource {
    var json: JSONValue {
        [
            "identifier": .string(identifier), "audience": .string(audience),
            "scopes": .array(scopes.map { .string($0) }),
        ]
    }
}
