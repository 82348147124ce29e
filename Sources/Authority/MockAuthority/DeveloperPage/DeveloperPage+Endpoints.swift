import Basics
import HTTP
import JSON
import OpenSSL

/// The developer page and what it loads.
extension HostContext {
    /// The query of the page for the tenant and run that are shown.
    var selection: String { Self.selection(of: authority, run: runName) }

    static func selection(of authority: TenantAuthority, run: String) -> String {
        let pairs = selected(authority, run: run)
        if pairs.isEmpty { return "" }
        return "?" + pairs.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    /// The parameters that choose a tenant and a run.
    static func selected(_ authority: TenantAuthority, run: String) -> [(String, String)] {
        let configuration = authority.configuration
        var pairs: [(String, String)] = []
        if configuration.profile != .b2c {
            pairs = [("profile", configuration.profile.rawValue), ("tenant", configuration.tenant.id)]
        }
        return run.isEmpty ? pairs : pairs + [("run", run)]
    }

    /// `GET /_mock`.
    func developerPage() async -> Response { await developerPage(alert: nil) }

    private func developerPage(alert: String?) async -> Response {
        do throws(RSAError) {
            let keys = try await authority.keys.current()
            return DeveloperPage(context: self, keys: keys, alert: alert).response(alert == nil ? 200 : 400)
        } catch {
            return Response.keyFailure
        }
    }

    /// `POST /_mock`: the action of a form; then the page, at the part that shows what became of it.
    func developerAction() -> Decision {
        head.answerForm { fields in
            do throws(InputError) {
                let action = try await perform(fields)
                let mark = selection.isEmpty ? "?" : "&"
                let target = "/\(Routes.developerPage.path)\(selection)\(mark)done=\(action.rawValue)"
                return Response(303, headers: ["Location": "\(target)#\(action.section.rawValue)"])
            } catch {
                return await developerPage(alert: error.message)
            }
        }
    }

    /// `GET /_mock/live`: what came or changed after the numbers that the page has, and 204 if that is nothing.
    func live() -> Response {
        let target = head.target
        let isSame = target["of"] == run.identifier
        let requests = run.recordedRequests.after(isSame ? number(target["requests"]) : 0)
        let tokens = run.issuedTokens.after(isSame ? number(target["tokens"]) : 0)
        let hasNews = number(target["faults"]) != run.faults.changes || !requests.isEmpty || !tokens.isEmpty
        if isSame, !hasNews { return Response(204, headers: ["Cache-Control": "no-store"]) }
        let activity = Activity(run: run)
        return Response.html(activity.news(requests, tokens))
    }

    private func number(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }
}
