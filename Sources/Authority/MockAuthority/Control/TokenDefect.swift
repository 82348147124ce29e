/// A defect of a token, of those that every service's tokens can have, or of those of External ID and Entra.
enum TokenDefect: Sendable, Equatable {
    case general(BadToken)
    case entra(EntraBadToken)

    /// The defects that tokens of a profile can have, in the order of the list.
    static func all(of profile: TenantProfile) -> [TokenDefect] {
        let general = BadToken.allCases.filter { profile == .b2c || $0.isKnownToEntra }
        return general.map { .general($0) }
            + EntraBadToken.allCases.filter { $0.isKnown(to: profile) }.map { .entra($0) }
    }

    var name: String {
        switch self {
        case .general(let bad): bad.rawValue
        case .entra(let bad): bad.rawValue
        }
    }

    func entry(in profile: TenantProfile) -> BadTokenEntry {
        switch self {
        case .entra(let bad):
            let response = bad.expectedResponse
            return BadTokenEntry(
                name: name, expectedResponse: response, expectedResponseWithScopes: bad.expectedResponseWithScopes,
                defect: bad.defect)
        case .general(let bad):
            let (plain, scoped) =
                profile == .b2c
                ? (bad.expectedResponse, bad.expectedResponseWithScopes)
                : (bad.expectedResponseAtEntra, bad.expectedResponseAtEntraWithScopes)
            return BadTokenEntry(
                name: name, expectedResponse: plain, expectedResponseWithScopes: scoped, defect: bad.defect)
        }
    }
}

extension BadToken {
    /// Whether tokens of External ID and Entra have what is spoiled: there, no policies and no slash.
    fileprivate var isKnownToEntra: Bool {
        switch self {
        case .issWithoutSlash, .wrongTenant, .wrongPolicy, .acrOnly, .noPolicy: false
        case .expired, .notYetValid, .noExp, .wrongAud, .audArray, .wrongIss, .wrongScp, .noScp, .idToken, .unknownKid,
            .noKid, .unpublishedKey, .retiredKey, .badSignature, .truncated, .algNone, .hs256WithPublicKey, .rs512,
            .typOther, .critHeader, .huge, .notJSON:
            true
        }
    }

    /// A source of Microsoft knows an ID token (P-28), and takes a token without scopes for an application's (P-27).
    fileprivate var expectedResponseAtEntra: ExpectedResponse {
        self == .idToken || self == .noScp ? .invalid : expectedResponse
    }

    fileprivate var expectedResponseAtEntraWithScopes: ExpectedResponse {
        self == .idToken ? .invalid : expectedResponseWithScopes
    }
}
