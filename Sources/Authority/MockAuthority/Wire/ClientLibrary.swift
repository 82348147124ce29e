import Basics
import HTTP

extension RequestContext {
    /// The era of token responses to this client: what its library reads if it says so, else the one of the settings.
    ///
    /// A library says what it is in `x-client-SKU`, in a field of its token requests or in the query. ADAL names its
    /// platform only (MSAL says `MSAL.iOS`, `MSAL.Python`), and none of it but the previews of 2015 and 2016 uses these
    /// endpoints. On iOS 3.0.0-pre3 takes the bearer token from `id_token` without asking for one, and all 3.0.0 previews
    /// take the name of the person from `preferred_username` and end the app where that is null.
    ///
    /// Claims, headers of tokens and keys always follow the settings: the API reads them, not the client.
    var responseEra: Era {
        let name = "x-client-SKU"
        let argument = head.target.query.first { $0.name.isEqualIgnoringCase(to: name) }?.value
        let product = head.headers[name] ?? argument ?? ""
        let isADAL = ["iOS", "OSX", "Android", "PCL.Desktop"].contains { $0.isEqualIgnoringCase(to: product) }
        return isADAL ? .preview2015 : configuration.behaviour.era
    }
}
