import Basics
import HTTP

/// Who may use the mock, and who its controls: programs and pages of this machine, and no page of another site.
///
/// A browser lets every page send requests to 127.0.0.1. What protects the mock is what browsers say of such a request:
/// the name in `Host`, which a page cannot choose freely, `Origin`, and `Sec-Fetch-Site` (Fetch Metadata).
extension HostContext {
    /// Why the name in `Host` is not answered, by no endpoint; `nil` if it is.
    var refusalOfName: Response? {
        isForKnownHost
            ? nil
            : refusal(
                "The mock does not answer under this name: a page of another site could lead it here. "
                    + "Use 127.0.0.1 or localhost, or start the mock with --public-url, --tls-name or --issuer and this "
                    + "name.")
    }

    /// Why the request may not use the controls; `nil` if it may.
    var refusalOfControl: Response? {
        if !isOfAllowedPeer {
            return refusal(
                "The controls of the mock answer on the loopback only, and nobody whose request a proxy passes on. "
                    + "--allow-remote lets the mock answer everybody.")
        }
        if isOfAnotherSite { return refusal("The controls of the mock do not answer pages of other sites.") }
        return nil
    }

    private func refusal(_ text: String) -> Response { Response.text(text, status: 403) }

    /// The loopback, and with `--allow-remote` every machine.
    ///
    /// A proxy of this machine, such as the agent of a tunnel, sends the requests of other machines from the loopback.
    private var isOfAllowedPeer: Bool {
        if mock.configuration.behaviour.remoteControl { return true }
        guard let peer = IPAddress(head.peer), peer.isLoopback else { return false }
        let publicHost = mock.configuration.publicOrigin.flatMap { WebAddress($0) }?.host ?? ""
        let isForPublicHost = !IPAddress.isLoopback(host: publicHost) && WebAddress(asked)?.host == publicHost
        return !isForPublicHost && !Self.fieldsOfProxies.contains { head.headers.contains($0) }
    }

    private static let fieldsOfProxies = [
        "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via",
    ]

    /// Whether `Host` is a name that only this machine can have.
    ///
    /// A page of evil.example whose name is made to lead to 127.0.0.1 is of the same origin as the mock (DNS
    /// rebinding), and only `Host` shows it. Addresses, names without a dot and those of reserved domains (RFC 6761,
    /// RFC 6762, RFC 9476) cannot be registered. A page can also write the field of a proxy, so both names must be
    /// known.
    private var isForKnownHost: Bool { isKnown(asked) && isKnown(base) }

    private func isKnown(_ base: String) -> Bool {
        guard let host = WebAddress(base)?.host else { return false }
        if host.hasPrefix("[") || !host.contains(".") || IPAddress(host) != nil { return true }
        if Self.closedDomains.contains(where: host.hasSuffix) || (EntraHost.login + [EntraHost.graph]).contains(host) {
            return true
        }
        return mock.configuration.namesOfHost.contains { $0.isEqualIgnoringCase(to: host) }
    }

    private static let closedDomains = [
        ".localhost", ".test", ".local", ".internal", EntraHost.customers, ".b2clogin.com",
    ]

    /// Whether a page of another origin sent it.
    ///
    /// Every browser sends `Origin` with a request that is neither `GET` nor `HEAD`. Following a link to the page is no
    /// such request: it changes nothing, and the other page cannot read it.
    private var isOfAnotherSite: Bool {
        if let origin = head.headers["Origin"] { return ![asked, base].contains(where: origin.isEqualIgnoringCase) }
        guard let site = head.headers["Sec-Fetch-Site"], !["same-origin", "none"].contains(site) else { return false }
        let isLink = [.get, .head].contains(head.method) && head.headers["Sec-Fetch-Mode"] == "navigate"
        return !isLink
    }
}

extension Configuration {
    fileprivate var namesOfHost: [String] {
        hostNames + moreHostNames + [issuerBase, publicOrigin ?? ""].compactMap { WebAddress($0)?.host }
    }
}
