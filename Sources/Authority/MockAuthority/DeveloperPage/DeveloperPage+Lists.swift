import Basics
import HTTP

/// The parts of the page that only show.
extension DeveloperPage {
    private var activity: Activity { Activity(run: run) }

    var issuedTokens: HTML {
        """
        <p>The last 50, newest first. They are kept in memory only.</p>
        <ol class="rows" id="token-rows">\(activity.rows(run.issuedTokens.after(0)))</ol>
        """
    }

    /// With where the script asks for what is new, and of which run the page shows what there was.
    var recordedRequests: HTML {
        let live = "/\(Routes.live.path)\(context.selection)"
        return """
            <p>The last \(Activity.shownRequests), newest first, without those to this page. All:
            <a href="/\(Routes.requests.path)\(context.selection)">as JSON</a>.</p>
            <p class="script" hidden><label><input type="checkbox" id="watch" checked> Show what comes</label></p>
            <ol class="rows" id="request-rows" data-live="\(live)" data-run="\(run.identifier)"
             data-most="\(Activity.shownRequests)">\(activity.rows(run.recordedRequests.after(0)))</ol>
            """
    }

    var badTokens: HTML {
        let rows = TokenDefect.all(of: configuration.profile).map { badToken($0.entry(in: configuration.profile)) }
        return """
            <p>Each is as good as it can be but for one defect. Next to it, what task-server answers.</p>
            <ul class="rows">\(rows)</ul>
            """
    }

    private func badToken(_ entry: BadTokenEntry) -> HTML {
        let target = "\(tokenTarget)&bad=\(entry.name)"
        return """
            <li><a href="\(target)">\(entry.name)</a>
            <button type="button" class="script small" data-copy-from="\(target)" hidden>\
            Copy<span class="unseen"> \(entry.name)</span></button>
            <span class="mark">\(entry.expectedResponse.status) \(entry.expectedResponse.code ?? "")</span>
            <span>\(entry.defect)</span></li>
            """
    }

    var registration: HTML {
        let applications = configuration.applications
        let policies = configuration.policies.filter { !$0.name.isEmpty }.map(policy)
        let heading: HTML = policies.isEmpty ? "" : "<h3>Policies</h3><ul class=\"rows\">\(policies)</ul>"
        return """
            <p>Tenant <code>\(configuration.tenant.name)</code>, id <code>\(configuration.tenant.id)</code>.
            \(metadata)</p>
            <h3>Applications</h3>
            <ul class="rows">\(applications.clients.map(client))</ul>
            <h3>APIs</h3>
            <ul class="rows">\(applications.resources.map(resource))</ul>
            \(heading)
            """
    }

    /// Of External ID and Entra; policies have their own.
    private var metadata: HTML {
        if configuration.profile == .b2c { return "" }
        return "<a href=\"/\(configuration.tenant.id)/\(Routes.entraMetadata.path)\">Metadata</a>"
    }

    private func client(_ client: Client) -> HTML {
        let secret: HTML = client.secret.map { ", secret <code>\($0)</code>" } ?? ""
        let uris = client.redirectURIs.map { "<li><code>\($0)</code></li>" as HTML }
        return """
            <li><details><summary><code>\(client.id)</code> <span class="mark">\
            \(client.secret == nil ? "public" : "confidential")</span></summary>
            <p>Redirect URIs\(secret):</p><ul>\(uris)</ul></details></li>
            """
    }

    private func resource(_ resource: Resource) -> HTML {
        """
        <li><code>\(resource.identifier)</code>, aud <code>\(resource.audience)</code>, scopes
        <code>\(resource.scopes.joined(separator: " "))</code></li>
        """
    }

    private func policy(_ policy: Policy) -> HTML {
        let metadata = "/\(configuration.tenant.name)/\(policy.name.lowercased())/\(Routes.metadata.path)"
        return """
            <li><code>\(policy.name)</code> <span class="mark">\(policy.kind.rawValue)</span>
            <a href="\(metadata)">metadata<span class="unseen"> of \(policy.name)</span></a></li>
            """
    }

    var clientSettings: HTML {
        let rows = mockSettings.map { settings -> HTML in
            """
            <li><details><summary>\(settings.kind)</summary>
            <p><button type="button" class="script small" data-copy-next hidden>\
            Copy<span class="unseen"> \(settings.kind)</span></button></p>
            <pre>\(settings.text)</pre></details></li>
            """
        }
        return "<ul class=\"rows\">\(rows)</ul>"
    }

    private var mockSettings: [ClientSettingsText] { context.mock.configuration.clientSettings(context.base) }
}
