import JSON

/// The period of the service that is reproduced, since old clients read old responses (docs/reproduced.md, "Eras").
package enum Era: String, Sendable, CaseIterable {
    /// The preview of 2015: policies in `acr`, a constant `sub`, an ID token always, keys named after a container.
    case preview2015
    /// 2016 to 2018: policies in `tfp`, a constant `sub`, numbers as strings.
    case classic
    case current

    func subject(_ objectID: String) -> String {
        self == .current ? objectID : "Not supported currently. Use oid claim."
    }

    /// The name and the value of the claim in which a token carries its policy.
    func policyClaim(_ policy: Policy) -> (name: String, value: String) {
        self == .preview2015 ? ("acr", policy.name.lowercased()) : ("tfp", policy.name)
    }

    /// Whether the header of a token begins with `alg`, not with `typ`.
    var headerBeginsWithAlgorithm: Bool { self == .current }

    /// Whether every response has an ID token, which clients then sent as the bearer token.
    var identifiesAlways: Bool { self == .preview2015 }

    func number(_ value: Int64) -> JSONValue { self == .current ? .integer(value) : .string(String(value)) }

    /// The name of the n-th key; `nil` where the name is the thumbprint.
    func keyName(_ number: Int) -> String? {
        guard self == .preview2015 else { return nil }
        return number == 1 ? "IdTokenSigningKeyContainer" : "IdTokenSigningKeyContainer.v\(number)"
    }
}
