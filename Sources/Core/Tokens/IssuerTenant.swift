package import Basics

/// The tenant in an issuer of Microsoft's: `https://host/<GUID>/v2.0`, with or without a slash at the end, B2C's
/// `https://host/tfp/<GUID>/<policy>/v2.0/`, and `https://sts.windows.net/<GUID>/` of version 1.
package enum IssuerTenant {
    /// What stands for the tenant in the issuer of `common` and `organizations`.
    static let placeholder = "{tenantid}"
    /// The tenant of all personal Microsoft accounts.
    package static let personalAccounts = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The GUID of the tenant in lower case; nothing for an issuer of another form.
    package static func of(_ issuer: String) -> String? {
        WebAddress(issuer).flatMap(of)
    }

    package static func of(_ issuer: WebAddress) -> String? {
        var path = issuer.path
        if path.count > 1 {
            guard let version = path.popLast(), version.isEqualIgnoringCase(to: "v2.0") else { return nil }
        }
        switch path.count {
        case 1: return GUID.canonical(path[0])
        case 3 where path[0].isSame(as: "tfp"): return GUID.canonical(path[1])
        default: return nil
        }
    }

    package static func isTemplate(_ issuer: String) -> Bool {
        issuer.utf8.contains(UInt8(ascii: "{")) && fill(issuer, with: "") != issuer
    }

    /// The template with this tenant in all of its places.
    package static func fill(_ template: String, with tenant: String) -> String {
        var result = ""
        var rest = template[...]
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[brace...]
            let isPlace = rest.hasPrefix(placeholder)
            result += isPlace ? tenant : "{"
            rest = rest.dropFirst(isPlace ? placeholder.count : 1)
        }
        return result + rest
    }
}
