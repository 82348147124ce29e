/// Every control, in the order of docs/mock-authority.md; a test compares them with the route table.
extension ControlDescription {
    static let operations = ofTokens + ofKeys + ofUsers + ofRuns

    private static let ofTokens = [
        ControlOperation(
            method: "GET", path: Routes.testToken.path, summary: "One token without a sign-in",
            parameters: tokenParameters, example: ("/_mock/token?user=alice", ""),
            answer: .textOrJSON("The token; as JSON, the reply of a token endpoint.", .members)),
        ControlOperation(
            method: "GET", path: Routes.badTokens.path,
            summary: "The names of bad tokens, and what task-server answers to each",
            example: ("/_mock/token/bad", ""),
            answer: .textOrJSON("A line, or an element, for each.", .list(.object(badToken)))),
    ]

    private static let tokenParameters = [
        ControlMember("user", .text, "Address, the part before the @, or object id.", isRequired: true),
        ControlMember("policy", .text, "The policy; without it, the first for signing in."),
        ControlMember("client", .text, "The id of the client; without it, the first."),
        ControlMember("scope", .text, "The scopes; without it, a token for the client itself."),
        ControlMember("bad", .text, "The defect, one of /_mock/token/bad."),
        ControlMember("exp", .text, "From now to exp: -1h, 90s, 30m, 2d."),
        ControlMember("nonce", .text, "The nonce of the token."),
        ControlMember("claim", .texts, "name=value, a claim to set; the value is JSON if it can be."),
        ControlMember("drop", .texts, "The name of a claim to leave out."),
        ControlMember("kid", .text, "The key that signs, of any tenant."),
    ]

    private static let badToken = [
        ControlMember("name", .text, "For bad=.", isRequired: true),
        ControlMember("status", .number(200...599), "The status that task-server answers.", isRequired: true),
        ControlMember("code", .any, "The code of its problem, or null."),
        ControlMember("statusWithScopes", .number(200...599), "The same where scopes are configured."),
        ControlMember("codeWithScopes", .any, "The same where scopes are configured."),
        ControlMember("words", .text, "What is wrong with it."),
    ]

    private static let ofKeys = [
        ControlOperation(
            method: "GET", path: Routes.keyControl.path, summary: "The keys and their states",
            example: ("/_mock/keys", ""),
            answer: .json("The published keys, then the retired ones.", keys)),
        ControlOperation(
            method: "POST", path: Routes.keyControl.path, summary: "Takes a step in the life of keys",
            body: [
                ControlMember(
                    "do", .choice(KeyStep.allCases.map(\.rawValue)),
                    "publish shows one more key, activate signs with the newest, retire withdraws the others, rotate does all.",
                    isRequired: true)
            ], example: ("/_mock/keys", #"{"do":"rotate"}"#), answer: .json("The keys after it.", keys)),
    ]

    private static let keys = ControlType.object([
        ControlMember(
            "keys",
            .list(
                .object([
                    ControlMember("kid", .text, "Its identifier.", isRequired: true),
                    ControlMember("state", .choice(KeyRing.State.Use.allCases.map(\.rawValue)), "What it is used for."),
                ])), "All keys.", isRequired: true)
    ])

    private static let ofUsers = [
        ControlOperation(
            method: "GET", path: "_mock/users", summary: "All users", example: ("/_mock/users", ""),
            answer: .json("The users.", .list(.object(user)))),
        ControlOperation(
            method: "PUT", path: "_mock/users/{name}",
            summary: "Changes the members that are sent, or adds the user", body: user,
            example: (
                "/_mock/users/dora@example.com",
                #"{"password":"Passw0rd!","name":"Dora","claims":{"extension_level":3}}"#
            ), answer: .json("The user.", .object(user))),
        ControlOperation(
            method: "DELETE", path: "_mock/users/{name}", summary: "Removes the user",
            example: ("/_mock/users/bob", ""),
            answer: .nothing),
    ]

    private static let user = [
        ControlMember("objectID", .text, "oid; cannot be changed."),
        ControlMember("email", .text, "The address for signing in."),
        ControlMember("password", .text, "The password; without one, sign-in with a password is refused."),
        ControlMember("name", .text, "The claim name."), ControlMember("givenName", .text, "The claim given_name."),
        ControlMember("familyName", .text, "The claim family_name."),
        ControlMember("claims", .members, "More claims of every token."),
        ControlMember("identityProvider", .text, "The claim idp, of users who came from one."),
        ControlMember("disabled", .truth, "Whether signing in and renewing are refused."),
        ControlMember("generation", .number(0...(1 << 53)), "Counts revocations; cannot be changed here."),
    ]

    private static let ofRuns = [
        ControlOperation(
            method: "POST", path: "_mock/revoke", summary: "Makes the grants of a user void",
            body: [ControlMember("user", .text, "A name of the user.", isRequired: true)],
            example: ("/_mock/revoke", #"{"user":"alice"}"#), answer: .json("The state of the run.", state)),
        ControlOperation(
            method: "POST", path: "_mock/faults", summary: "Lets the next requests to an endpoint fail", body: fault,
            example: ("/_mock/faults", #"{"at":"keys","times":2,"status":503,"retry_after":7}"#),
            answer: .json("The state of the run.", state)),
        ControlOperation(
            method: "POST", path: "_mock/clock", summary: "Sets the clock by which tokens are dated",
            body: [
                ControlMember("skew_s", .number(-(1 << 40)...(1 << 40)), "Seconds off; 0 is right.", isRequired: true)
            ], example: ("/_mock/clock", #"{"skew_s":-7200}"#), answer: .json("The state of the run.", state)),
        ControlOperation(
            method: "GET", path: Routes.requests.path, summary: "The last 200 requests to endpoints",
            example: ("/_mock/requests", ""), answer: .json("The oldest first.", .list(.object(request)))),
        ControlOperation(
            method: "GET", path: "_mock/state", summary: "Clock, users and faults of the run",
            example: ("/_mock/state", ""), answer: .json("The state of the run.", state)),
        ControlOperation(
            method: "POST", path: "_mock/reset", summary: "Makes the run what it was at the start; keys stay",
            example: ("/_mock/reset", ""), answer: .json("The state of the run.", state)),
        ControlOperation(
            method: "GET", path: Routes.openAPI.path, summary: "This description",
            example: ("/_mock/openapi.json", ""), answer: .json("An OpenAPI document.", .members)),
    ]

    private static let fault = [
        ControlMember(
            "at", .choice(Fault.Endpoint.allCases.map(\.rawValue)), "The endpoint, of all policies.", isRequired: true),
        ControlMember("times", .number(1...(1 << 53)), "How many requests; without it, one."),
        ControlMember("status", .number(200...599), "The status in place of the endpoint's answer."),
        ControlMember("delay_ms", .number(0...(1 << 53)), "Milliseconds before the answer, at most 60000 of them."),
        ControlMember("retry_after", .number(0...(1 << 53)), "The field Retry-After, in seconds."),
        ControlMember("body", .text, "The body in place of the endpoint's."),
        ControlMember("cut", .truth, "Whether the connection ends in the middle of the body."),
    ]

    private static let state = ControlType.object([
        ControlMember("run", .text, "The name of the run.", isRequired: true),
        ControlMember("runs", .texts, "All runs.", isRequired: true),
        ControlMember("skew_s", .number(-(1 << 40)...(1 << 40)), "Seconds that the clock is off.", isRequired: true),
        ControlMember("users", .list(.object(user)), "All users.", isRequired: true),
        ControlMember("faults", .list(.object(fault)), "Those that wait for requests.", isRequired: true),
        ControlMember("requests", .number(0...200), "How many are kept.", isRequired: true),
    ])

    private static let request = [
        ControlMember("at", .number(-(1 << 53)...(1 << 53)), "Seconds since 1970.", isRequired: true),
        ControlMember("method", .text, "The method.", isRequired: true),
        ControlMember("target", .text, "Path and query.", isRequired: true),
        ControlMember("headers", .list(.texts), "Name and value of each field.", isRequired: true),
        ControlMember("body", .text, "The first 16 KiB of the body."),
        ControlMember("status", .number(100...599), "The status of the answer.", isRequired: true),
    ]
}
