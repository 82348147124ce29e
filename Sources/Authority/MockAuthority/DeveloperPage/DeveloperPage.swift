import Basics
import HTTP
import JSON
import OpenSSL

/// The page on which developers see what the authority did, and use the controls.
///
/// It is below `/_mock`, where the same rules decide who may use it (``HostContext/refusalOfControl``). Everything can be
/// read and every form be sent without its script, which adds what is new and copies.
struct DeveloperPage: Sendable {
    let context: HostContext
    let keys: KeyRing.State
    /// Why the action that was sent was refused.
    var alert: String?

    var run: TestRun { context.run }
    var configuration: Configuration { context.configuration }
    var users: [User] { run.directory.all }
    /// Where forms are sent: this page, for the same tenant and run.
    var path: String { "/\(Routes.developerPage.path)\(context.selection)" }

    /// No script or style but its own, nothing of other hosts, no frame around it.
    ///
    /// With `no-referrer` browsers would write `Origin: null` into the requests of its forms, and they would be refused.
    private static let fields: FieldLines = [
        "Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
        "Content-Security-Policy":
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
            + "base-uri 'none'; frame-ancestors 'none'",
    ]

    func response(_ status: Status = 200) -> Response {
        Response.html(html, status: status, headers: Self.fields)
    }

    private var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>mock-authority</title>
        <link rel="stylesheet" href="/\(Routes.developerStyle.path)">
        <script src="/\(Routes.developerScript.path)" defer></script>
        </head>
        <body>
        <header>
        <p class="overline">mock-authority \(programVersion), for development only</p>
        <h1>\(configuration.tenant.name)</h1>
        \(tenants)
        <nav aria-label="Sections"><ul>\(DeveloperSection.allCases.map(\.link))</ul></nav>
        </header>
        <main>
        \(message)
        \(DeveloperSection.allCases.map(section))
        </main>
        <footer><p>The same by program: docs/mock-authority.md has an example of each control.</p></footer>
        <p id="said" role="status"></p>
        </body>
        </html>

        """
    }

    private func section(_ section: DeveloperSection) -> HTML {
        """
        <section id="\(section.rawValue)" aria-labelledby="\(section.rawValue)-title">
        <h2 id="\(section.rawValue)-title">\(section.title)</h2>
        \(content(of: section))
        </section>
        """
    }

    private func content(of section: DeveloperSection) -> HTML {
        switch section {
        case .token: tokenForm
        case .tokens: issuedTokens
        case .requests: recordedRequests
        case .users: accounts
        case .keys: keyForms
        case .clock: clockForm
        case .faults: faultForms
        case .bad: badTokens
        case .registration: registration
        case .clients: clientSettings
        case .reset: resetForm
        }
    }

    /// What became of the action that was sent before.
    private var message: HTML {
        if let alert { return "<p class=\"alert\" role=\"alert\">\(alert)</p>" }
        guard let done = context.head.target["done"].flatMap(DeveloperAction.init(rawValue:)) else { return "" }
        return "<p class=\"done\" role=\"status\">\(done.outcome)</p>"
    }

    /// The tenants that the process plays, and the run if it is not that of everyone.
    private var tenants: HTML {
        let links = ([context.mock.b2c] + context.mock.others).map { tenant -> HTML in
            let mark: HTML = tenant === context.authority ? " aria-current=\"page\"" : ""
            let target = "/\(Routes.developerPage.path)\(HostContext.selection(of: tenant, run: context.runName))"
            return """
                <li><a href="\(target)"\(mark)>\
                \(tenant.configuration.profile.title)<span> \(tenant.configuration.tenant.name)</span></a></li>
                """
        }
        let run: HTML = context.runName.isEmpty ? "" : "<p>Test run <code>\(context.runName)</code></p>"
        return "<nav aria-label=\"Tenants\"><ul class=\"tenants\">\(links)</ul></nav>\(run)"
    }
}

/// The parts of the page, in their order.
enum DeveloperSection: String, Sendable, CaseIterable {
    case token, tokens, requests, users, keys, clock, faults, bad, registration, clients, reset

    var title: String {
        switch self {
        case .token: "Get a token"
        case .tokens: "Tokens issued"
        case .requests: "Requests"
        case .users: "Users"
        case .keys: "Keys"
        case .clock: "Clock"
        case .faults: "Faults"
        case .bad: "Bad tokens"
        case .registration: "Applications and policies"
        case .clients: "Client settings"
        case .reset: "Reset"
        }
    }

    var link: HTML { "<li><a href=\"#\(rawValue)\">\(title)</a></li>" }
}

extension TenantProfile {
    /// The service, for people.
    var title: String {
        switch self {
        case .b2c: "Azure AD B2C"
        case .externalID: "Entra External ID"
        case .entra: "Entra ID"
        }
    }
}
