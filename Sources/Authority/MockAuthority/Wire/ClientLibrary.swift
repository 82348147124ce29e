import Basics
import HTTP

/// What a client library says about itself: `x-client-SKU`, in a field of its token requests or in the query.
struct ClientLibrary: Sendable, Equatable {
    /// The product, as `iOS` or `MSAL.Python`.
    let product: String

    /// `nil` if the request does not say.
    init?(_ head: RequestHead) {
        let name = "x-client-SKU"
        let argument = head.target.query.first { $0.name.isEqualIgnoringCase(to: name) }?.value
        guard let product = head.headers[name] ?? argument, !product.isEmpty else { return nil }
        self.product = product
    }

    /// The era whose token responses the library reads; `nil` if it reads those of every era.
    ///
    /// ADAL names its platform only (MSAL says `MSAL.iOS`, `MSAL.Python`), and none of it but the previews of 2015 and
    /// 2016 uses these endpoints. On iOS 3.0.0-pre3 takes the bearer token from `id_token` without asking for one, and
    /// all 3.0.0 previews take the name of the person from `preferred_username` and end the app where that is null.
    var era: Era? {
        Self.platformsOfADAL.contains { $0.isEqualIgnoringCase(to: product) } ? .preview2015 : nil
    }

    private static let platformsOfADAL = ["iOS", "OSX", "Android", "PCL.Desktop"]
}

extension RequestContext {
    /// The era of token responses to this client: what its library reads if it says so, else the one of the settings.
    ///
    /// Claims, headers of tokens and keys always follow the settings: the API reads them, not the client.
    var responseEra: Era { ClientLibrary(head)?.era ?? configuration.behaviour.era }
}
