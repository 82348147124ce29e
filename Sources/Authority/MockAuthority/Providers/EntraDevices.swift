import Basics
import HTTP
import JSON
import OpenSSL

/// The device authorization endpoint and its page (RFC 8628; docs/reproduced.md, "Device code").
extension RequestContext {
    private var pageOfDevices: String { "\(base)/\(url.tenant)/\(Routes.devicePage.path)" }

    func beginDevice() -> Decision {
        head.answerForm { parameters in
            do throws(Refusal) {
                return Response.json(try await answer(parameters), headers: headers)
            } catch {
                return provider.response(error, self)
            }
        }
    }

    private func answer(_ parameters: Parameters) async throws(Refusal) -> JSONValue {
        let client = try await client(parameters)
        let text = try parameters.required("scope")
        _ = try scope(text, client)
        let request = DeviceRequest(client: client.id, scope: text, expires: now + DeviceRequest.lifetime)
        let deviceCode = EntraClaims.random(48)
        run.devices.add(request, deviceCode)
        let message =
            "To sign in, use a web browser to open the page \(pageOfDevices) and enter the code \(request.userCode) to "
            + "authenticate."
        return [
            "user_code": .string(request.userCode), "device_code": .string(deviceCode),
            "verification_uri": .string(pageOfDevices), "expires_in": .integer(DeviceRequest.lifetime),
            "interval": 5, "message": .string(message),
        ]
    }

    /// `GET` and `POST /T/oauth2/deviceauth`: the code and the sign-in on one form.
    func devicePage() -> Decision {
        guard head.method == .post else { return .respond(devicePage(Parameters(head.target.query))) }
        return head.answerForm(act)
    }

    private func act(_ fields: Parameters) -> Response {
        if fields["action"] == "cancel" {
            return finish(fields, .declined, "You have declined. You can close this window.")
        }
        switch FormReader(run: run, fields: fields).read(.device, user: nil) {
        case .failure(_, let message): return devicePage(fields, alert: message)
        case .person(let user, _):
            return finish(fields, .approved(user.objectID), "You have signed in. You can close this window.")
        }
    }

    private func finish(_ fields: Parameters, _ outcome: DeviceRequest.Outcome, _ text: String) -> Response {
        let userCode = fields["user_code"] ?? ""
        let wasWaiting = run.devices.change(where: { _, device in
            device.userCode.isEqualIgnoringCase(to: userCode) && device.expires > now && device.outcome == .pending
        }) { $0.outcome = outcome }
        guard wasWaiting else {
            return devicePage(fields, alert: "That code did not work. Check the code and try again.")
        }
        return Page(title: "Device sign-in", content: "<p>\(text)</p>").response
    }

    private func devicePage(_ fields: Parameters, alert: String? = nil) -> Response {
        let form = FormHTML(
            form: .device, action: "/\(url.tenant)/\(Routes.devicePage.path)", csrf: "", alert: alert,
            given: { fields[$0] })
        return Page(title: PageForm.device.title, content: form.html, overline: configuration.tenant.name).response
    }

    /// The device authorization grant (RFC 8628 section 3.4).
    func deviceGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        let code = try parameters.required("device_code")
        guard let request = run.devices.entry(code), request.client == client.id else {
            throw Refusal(.unknownDeviceCode)
        }
        guard request.expires > now else { throw Refusal(.deviceCodeExpired) }
        switch request.outcome {
        case .pending: throw Refusal(.devicePending)
        case .declined: throw Refusal(.deviceDeclined)
        case .approved(let objectID):
            guard let user = run.directory.user(objectID), !user.status.disabled else { throw Refusal(.accountGone) }
            guard run.devices.remove(code) else { throw Refusal(.unknownDeviceCode) }
            let scope = try scope(request.scope, client)
            if client.consent == .user { addConsent(of: user, to: client, scope) }
            return try await signTokens(for: granted(user, client, scope))
        }
    }
}

/// The request of a device without a browser (RFC 8628 section 3.1), and what its person did elsewhere.
struct DeviceRequest: Sendable {
    enum Outcome: Sendable, Equatable {
        case pending, declined
        case approved(String)
    }

    /// How long a device waits for its person, in seconds.
    static let lifetime: Int64 = 900
    /// Without vowels, so that no code is a word; letters that look like digits are missing too.
    private static let alphabet = Array("BCDFGHJKMNPQRSTVWXYZ23456789")

    let userCode = String(SecureRandom.bytes(9).map { alphabet[Int($0) % alphabet.count] })
    let client: String
    let scope: String
    /// Seconds since 1970.
    let expires: Int64
    var outcome = Outcome.pending
}
