import HTTP

/// Answers to requests that reach no endpoint.
enum NotFoundPage {
    static var noEndpoint: Response {
        page(
            "Not found",
            "The mock authority has no such page. A tenant and a policy come first: "
                + "/contoso.onmicrosoft.com/b2c_1_sign_in/\(Routes.metadata.path)")
    }

    /// No such tenant or policy: a status of 400 to 499, since clients take others for an outage.
    static func noPolicy(_ url: PolicyURL) -> Response {
        page(
            "No such policy",
            "AADB2C90022: Unable to return metadata for the policy '\(url.policy ?? "")' in tenant "
                + "'\(url.tenant)'.")
    }

    private static func page(_ title: String, _ text: String) -> Response {
        Page(title: title, content: "<p>\(text)</p>", status: 404).response
    }
}
