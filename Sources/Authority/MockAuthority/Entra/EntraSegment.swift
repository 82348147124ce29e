import Basics

/// The first segments that name no tenant: any, or the tenant of personal accounts.
enum EntraSegment: String, Sendable {
    case common
    case organizations
    case consumers
}

extension Configuration {
    /// The run and the segment of answers, if a request to this host and first segment is for this tenant.
    ///
    /// Answers always name the id, whatever the request named (docs/reproduced.md, "Addresses"). By a domain that the
    /// B2C tenant has too, a tenant is found at the host of its service only.
    func entraName(of segment: String, at host: String, beside b2c: Tenant) -> (run: String, segment: String)? {
        let isAtService = host.hasSuffix(EntraHost.customers)
        if isAtService {
            let label = host.dropLast(EntraHost.customers.count)
            guard profile == .externalID, [tenant.subdomain, tenant.id].contains(where: label.isEqualIgnoringCase)
            else {
                return nil
            }
        }
        if let known = EntraSegment(rawValue: segment.lowercased()) {
            return profile == .entra ? ("", known.rawValue) : nil
        }
        var names = [tenant.id]
        if profile == .externalID { names.append(tenant.subdomain) }
        if isAtService || !tenant.name.isEqualIgnoringCase(to: b2c.name) { names.append(tenant.name) }
        return Tenant.run(of: segment, names: names).map { ($0, $0.isEmpty ? tenant.id : "\($0).\(tenant.id)") }
    }
}
