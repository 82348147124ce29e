import HTTP
import JSON
import Support
import Synchronization
import Tasks
import Testing
import Tokens

@testable import TaskAPI

@Suite("Access to the API")
struct AccessTests {
    @Test(arguments: Transport.allCases)
    func `Each outcome has its status, challenge and code (RFC 6750 section 3)`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        func invalid(_ why: String) -> String {
            "Bearer realm=\"tasks\", error=\"invalid_token\", error_description=\"The access token \(why)\""
        }
        let cases: [(String, Status, String, String?)] = [
            ("forged", 401, "token.invalid", invalid("is invalid")),
            ("outdated", 401, "token.expired", invalid("expired")),
            ("endless", 401, "token.too_long", invalid("is too long")),
            ("not,a,token", 400, "request.credentials", "Bearer realm=\"tasks\", error=\"invalid_request\""),
            ("unverifiable", 503, "keys.unavailable", nil),
        ]
        for (token, status, code, challenge) in cases {
            let answer = try await api.send("GET", "/api/tasks", as: token, [("Accept", "application/json")])
            #expect(answer.status == status)
            #expect(answer.headers["WWW-Authenticate"] == challenge)
            #expect(answer.headers["Retry-After"] == (status == 503 ? "7" : nil))
            let problem = try #require(JSONValue(parsing: answer.body).object)
            #expect(problem["code"]?.string == code)
            #expect(problem["status"] == .integer(Int64(status.rawValue)))
            for member in ["type", "title", "detail", "instance", "error", "message"] {
                #expect(problem.contains(member))
            }
            #expect(!answer.text.contains(token))
        }
    }

    @Test("Two Authorization fields are a malformed request, with a challenge (V-05)", arguments: Transport.allCases)
    func twice(transport: Transport) async throws {
        let answer = try await TestedAPI(transport).send(
            "GET", "/api/tasks", as: "alice", [("Authorization", "Bearer alice")])
        #expect(answer.status == 400)
        #expect(answer.headers["WWW-Authenticate"] == "Bearer realm=\"tasks\", error=\"invalid_request\"")
    }

    @Test(arguments: Transport.allCases)
    func `A token in Cookie or Proxy-Authorization is ignored (V-02)`(transport: Transport) async throws {
        let api = TestedAPI(transport) { $0.allowQueryToken = true }
        let fields = [
            ("Cookie", "access_token=alice"), ("Cookie", "Authorization=Bearer alice; Bearer alice"),
            ("Cookie", "Bearer alice"), ("Proxy-Authorization", "Bearer alice"), ("X-Authorization", "Bearer alice"),
        ]
        for field in fields {
            let answer = try await api.send("GET", "/api/tasks", [field])
            #expect(answer.status == 401, "\(field)")
            #expect(answer.headers["WWW-Authenticate"] == "Bearer realm=\"tasks\"", "\(field)")
            // The field does not spoil a token that is where it belongs.
            #expect(try await api.send("GET", "/api/tasks", as: "alice", [field]).status == 200, "\(field)")
        }
    }

    @Test(
        "A request has one token, in one place, and a form is no place for it (RFC 6750 sections 2 and 3.1; V-03)",
        arguments: Transport.allCases,
        [true, false])
    func places(transport: Transport, allowQuery: Bool) async throws {
        let api = TestedAPI(transport) { $0.allowQueryToken = allowQuery }
        let one = allowQuery ? 200 : 401
        let queries: [(String, String?, Int)] = [
            ("access_token=alice", nil, one), ("access_token=alice&access_token=bob", nil, 400),
            ("access_token=alice&access_token=alice", nil, 400), ("access_token=&access_token=alice", nil, 400),
            ("access_token=alice&task=x&access%5Ftoken=bob", nil, 400), ("access_token=alice", "alice", 400),
            ("access_token=bob", "alice", 400), ("access_token=", "alice", 400),
            ("access_token=alice&access_token=bob", "alice", 400),
        ]
        for (query, token, status) in queries {
            let answer = try await api.send("GET", "/api/tasks?\(query)", as: token)
            #expect(answer.status.rawValue == status, "\(query) \(token ?? "")")
            #expect((answer.headers["WWW-Authenticate"]?.contains("invalid_request") ?? false) == (status == 400))
        }
        let body = "access_token=bob&task=mine"
        #expect(try await api.send("POST", "/api/tasks", as: nil, [form], body).status == 401)
        #expect(try await api.send("POST", "/api/tasks", as: "alice", [form], body).status == 201)
        #expect(try await api.send("GET", "/api/tasks", as: "bob").text.contains("mine") == false)
    }

    @Test(arguments: Transport.allCases)
    func `Scopes are asked for only where they are configured (V-59)`(transport: Transport) async throws {
        let api = TestedAPI(transport) {
            $0.verifier = NameVerifier(required: RequiredScopes(read: "tasks.read", write: "tasks.write"))
        }
        #expect(try await api.send("GET", "/api/tasks", as: "alice-read").status == 200)
        let refused = try await api.send("POST", "/api/tasks?task=a", as: "alice-read")
        #expect(refused.status == 403)
        #expect(
            refused.headers["WWW-Authenticate"]
                == "Bearer realm=\"tasks\", error=\"insufficient_scope\", scope=\"tasks.write\"")
        #expect(try await api.send("GET", "/api/tasks", as: "alice").status == 403)
    }

    @Test(
        "P-27 The token of an application lacks the scopes that are required, and is invalid where none are",
        arguments: Transport.allCases)
    func application(transport: Transport) async throws {
        for (scope, status) in [("tasks.read", 403), (nil, 401)] {
            let api = TestedAPI(transport) {
                $0.verifier = NameVerifier(required: RequiredScopes(read: scope))
            }
            let refused = try await api.send("GET", "/api/tasks", as: "application")
            #expect(refused.status.rawValue == status)
            let challenge = refused.headers["WWW-Authenticate"] ?? ""
            #expect(challenge.contains("error=\"insufficient_scope\", scope=\"tasks.read\"") == (status == 403))
        }
    }

    @Test("P-12 A person's scopes are compared with those of the source of the token", arguments: Transport.allCases)
    func source(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let unnamed = try JSONValue(parsing: await api.send("GET", "/api/me", as: "alice").body).object
        #expect(unnamed?.contains("source") == false && unnamed?["policy"] == "b2c_1_sign_in")
        let named = try JSONValue(parsing: await api.send("GET", "/api/me", as: "alice-of-ext").body).object
        #expect(named?["source"] == "ext" && named?["owner"] == .string(NameVerifier.alice))
    }

    @Test(arguments: Transport.allCases)
    func `A request waits for a verifier that needs time`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        #expect(try await api.send("GET", "/api/tasks", as: "alice-slow").status == 200)
        let added = try await api.send(
            "POST", "/api/tasks", as: "alice-slow", [("Content-Type", "application/json")], #"{"task":"a"}"#)
        #expect(added.status == 201)
    }

    @Test(arguments: Transport.allCases)
    func `An unknown method is 405 and an unknown path 404, with a token (V-147)`(transport: Transport) async throws {
        let api = TestedAPI(transport)
        let wrong = try await api.send("PUT", "/api/tasks", as: "alice")
        #expect(wrong.status == 405)
        #expect(wrong.headers["Allow"] == "GET, HEAD, POST, PATCH, DELETE, OPTIONS")
        #expect(try await api.send("GET", "/api/nothing", as: "alice").status == 404)
        let nothing = try await api.send("GET", "/nothing")
        #expect(nothing.status == 404 && nothing.headers["Cache-Control"] == "no-store")
        #expect(try await api.send("POST", "/healthz").status == 405)
    }

    @Test(arguments: Transport.allCases)
    func `Health, the page and its configuration need no token`(transport: Transport) async throws {
        let api = TestedAPI(transport) {
            $0.files = ["index.html": PublicFile(name: "index.html", bytes: Array("<!doctype html>".utf8))]
            $0.page = PageConfiguration(authority: "https://a.example/t", clientIdentifier: "app", policies: ["p"])
            $0.publicAddress = "https://tasks.example.com"
        }
        #expect(try await api.send("GET", "/healthz").status == 200)
        #expect(try await api.send("GET", "/readyz").text == "ready\n")
        let page = try await api.send("GET", "/")
        #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(
            page.headers["Content-Security-Policy"] == "default-src 'none'; script-src 'self'; style-src 'self'; "
                + "img-src 'self' data:; connect-src 'self' https://a.example; manifest-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
        let tag = try #require(page.headers["ETag"])
        #expect(try await api.send("GET", "/", [("If-None-Match", tag)]).status == 304)
        let configuration = try await api.send("GET", "/config.json")
        #expect(
            configuration.text == #"{"authority":"https://a.example/t","clientId":"app","policies":["p"],"scopes":[]}"#)
    }

    @Test(
        "A browser that asks for an address that does not exist gets a page, and every other client the problem",
        arguments: Transport.allCases)
    func missingPage(transport: Transport) async throws {
        let page = Array("<!doctype html><a href=\"/\">Start</a>".utf8)
        let api = TestedAPI(transport) { $0.files = ["404.html": PublicFile(name: "404.html", bytes: page)] }
        let browser = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
        for target in ["/nothing", "/nothing/here.html", "/%3Cscript%3Ealert(1)%3Cscript%3E?x=%3Cb%3E", "/index.php"] {
            let answer = try await api.send("GET", target, [browser])
            #expect(answer.status == 404 && answer.body == page, "\(target)")
            #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(answer.headers["Cache-Control"] == "no-store" && answer.headers["ETag"] == nil)
            #expect(answer.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
        }
        let head = try await api.send("HEAD", "/nothing", [browser])
        #expect(head.status == 404 && head.headers["Content-Type"] == "text/html; charset=utf-8")
        let text = "Nothing here. The tasks are at /api/tasks; /openapi.yaml lists everything. (request.path)\n"
        for accept in ["text/plain", "text/html;q=0.5, text/plain"] {
            let answer = try await api.send("GET", "/nothing", [("Accept", accept)])
            #expect(answer.status == 404 && answer.text == text, "\(accept)")
        }
        for accept in [
            nil, "*/*", "text/*", "text/html;q=0", "application/json", "application/json, text/html",
            "application/problem+json, text/html;q=0.9",
        ] {
            let answer = try await api.send("GET", "/nothing", accept.map { [("Accept", $0)] } ?? [])
            #expect(answer.status == 404, "\(accept ?? "")")
            #expect(answer.headers["Content-Type"] == "application/problem+json", "\(accept ?? "")")
        }
        let script = try await api.send("GET", "/nothing", [browser, ("Origin", "https://app.example")])
        #expect(script.headers["Content-Type"] == "application/problem+json")
        #expect(try await api.send("POST", "/nothing", [browser]).code == "request.path")
        // Below /api the token comes first, and then the problem.
        #expect(try await api.send("GET", "/api/nothing", [browser]).status == 401)
        #expect(try await api.send("GET", "/api/nothing", as: "alice", [browser]).code == "request.path")
        // A server without such a page has the problem only.
        #expect(try await TestedAPI(transport).send("GET", "/nothing", [browser]).code == "request.path")
    }

    @Test func `A server that is not ready says why`() async throws {
        let api = TestedAPI(.inProcess) { $0.readiness = { "no keys yet" } }
        let answer = try await api.send("GET", "/readyz")
        #expect(answer.status == 503)
        #expect(answer.text == "not ready: no keys yet\n")
    }

    @Test(arguments: Transport.allCases)
    func `Only the configured origins may read, if they are configured`(transport: Transport) async throws {
        let api = TestedAPI(transport) { $0.origins = .only(["https://app.example"]) }
        let known = try await api.send("GET", "/api/tasks", as: "alice", [("Origin", "https://app.example")])
        #expect(known.headers["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(known.headers.values("Vary").contains("Origin"))
        let exposed = """
            ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, client-request-id
            """
        #expect(known.headers["Access-Control-Expose-Headers"] == exposed)
        let other = try await api.send("GET", "/api/tasks", as: "alice", [("Origin", "https://other.example")])
        #expect(other.headers["Access-Control-Allow-Origin"] == nil)
    }

    private static let usual = "Authorization, Content-Type"

    @Test(
        "A preflight allows the fields that it asks for, if they are names of fields",
        arguments: [
            ("authorization, content-type", nil), ("sentry-trace,baggage,traceparent,x-datadog-trace-id", nil),
            ("ngrok-skip-browser-warning", nil), (nil, usual), ("a b", usual), ("a,,b", usual), ("a:b", usual),
            (String(repeating: "a", count: 4097), usual),
        ] as [(String?, String?)])
    func preflight(asked: String?, allowed: String?) async throws {
        var fields = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "PATCH")]
        if let asked { fields.append(("Access-Control-Request-Headers", asked)) }
        let answer = try await TestedAPI(.socket).send("OPTIONS", "/api/tasks/1", fields)
        #expect(answer.status == 204 && answer.headers["Access-Control-Allow-Methods"]?.contains("PATCH") == true)
        #expect(answer.headers.values("Access-Control-Allow-Headers") == [allowed ?? asked])
        #expect(!answer.headers.contains("Access-Control-Allow-Credentials"))
    }

    @Test func `A person gets what their token says of them`() async throws {
        let answer = try await TestedAPI(.inProcess).send("GET", "/api/me", as: "alice-read")
        #expect(
            answer.text == #"{"owner":"\#(NameVerifier.alice)","name":"Alice","policy":"b2c_1_sign_in","#
                + #""scopes":["tasks.read"],"expires":"2027-01-15T08:00:00.000Z"}"#)
    }

    @Test func `A rate limit counts each person alone, and says how long to wait`() async throws {
        let clock = ManualClock()
        let api = TestedAPI(.inProcess) {
            $0.rateLimit = 2
            $0.time = clock
        }
        for remaining in [3, 2, 1, 0] {
            let answer = try await api.send("GET", "/api/tasks", as: "alice")
            #expect(answer.status == 200)
            #expect(answer.headers["RateLimit-Policy"] == #""person";q=4;w=2"#)
            #expect(answer.headers["RateLimit"] == #""person";r=\#(remaining);t=\#(remaining > 1 ? 1 : 2)"#)
        }
        let refused = try await api.send("GET", "/api/tasks", as: "alice")
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == "1")
        #expect(refused.headers["RateLimit"] == #""person";r=0;t=2"#)
        #expect(try await api.send("GET", "/api/tasks", as: "bob").status == 200)
        clock.advance(seconds: 1)
        #expect(try await api.send("GET", "/api/tasks", as: "alice").status == 200)
    }

    @Test
    func `Persons whose bucket is full again are forgotten, so a rate limit does not need more and more memory`() {
        let clock = ManualClock()
        let limiter = RateLimiter(perSecond: 2, time: clock)
        for number in 0...10_000 { _ = limiter.take(Owner("\(number)")) }
        #expect(limiter.count == 10_001)
        clock.advance(seconds: 3)
        _ = limiter.take(Owner("one more"))
        #expect(limiter.count == 1)
    }

    @Test
    func `Owners whose bytes differ are limited apart, although Swift takes their texts for equal`() async throws {
        let api = TestedAPI(.inProcess) {
            $0.rateLimit = 1
            $0.time = ManualClock()
        }
        #expect(NameVerifier.composed == NameVerifier.decomposed, "or this test proves nothing")
        for _ in 0..<2 { #expect(try await api.send("GET", "/api/tasks", as: "composed").status == 200) }
        #expect(try await api.send("GET", "/api/tasks", as: "composed").status == 429)
        #expect(try await api.send("GET", "/api/tasks", as: "decomposed").status == 200)
    }

    @Test func `The record of a refusal names the key and a digest of the token, not the token (V-132)`() async throws {
        let asked = Atomic<Int>(0)
        let api = TestedAPI(.inProcess) {
            $0.examine = { token, _ in
                asked.add(1, ordering: .relaxed)
                return RefusedToken(token, fingerprint: "\(token.utf8.count) bytes", mistake: nil)
            }
        }
        let header = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEgXCJrZXlcIiDDpCIsInR5cCI6IkpXVCJ9"  // kid: a "key" a-umlaut
        _ = try await api.send("GET", "/api/tasks", as: "\(header).e30.AAAA")
        let record = try #require(api.records.all.first)
        // Most refusals write no line, so nothing is worked out before one asks.
        #expect(asked.load(ordering: .relaxed) == 0)
        let token = try #require(record.refusedToken?())
        #expect(token.keyIdentifier == "a \"key\" ?")
        #expect(token.fingerprint == "\(header.utf8.count + 9) bytes")
        #expect(!"\(record)".contains(header))
    }

    @Test func `The record of a request says what happened, and holds nothing of the token or the text`() async throws {
        let api = TestedAPI(.inProcess)
        let identifier = ("client-request-id", "0f8fad5b-d9cb-469f-a165-70867728950e")
        let trace = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        let answer = try await api.send(
            "POST", "/api/tasks/someone/secret%20words", as: "alice",
            [identifier, trace, ("return-client-request-id", "true")])
        #expect(answer.headers["client-request-id"] == identifier.1)
        _ = try await api.send("GET", "/api/tasks", as: "forged", [("client-request-id", "bad\"id")])
        let records = api.records.all
        #expect(records.map(\.route) == ["/api/tasks/{owner}/{text}", "/api/tasks"])
        #expect(records[0].clientRequestIdentifier == identifier.1)
        #expect(records[0].trace == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(records[0].owner != nil && records[1].owner == nil)
        #expect(records[1].problem == "token.invalid" && records[1].refusal == .badSignature)
        #expect(records[1].clientRequestIdentifier == nil)
        #expect(!"\(records)".contains("secret"))
    }

    private static let traceIdentifier = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test(
        "A trace is recorded if it has the form of its version, or that of the first for later ones",
        arguments: [
            ("00-\(traceIdentifier)-00f067aa0ba902b7-01", true), ("00-\(traceIdentifier)-00f067aa0ba902b7-00", true),
            ("01-\(traceIdentifier)-00f067aa0ba902b7-01", true),
            ("cc-\(traceIdentifier)-00f067aa0ba902b7-01-what-the-future-will-be", true),
            ("00-\(traceIdentifier)-00f067aa0ba902b7-01-more", false),
            ("00-\(traceIdentifier)-00f067aa0ba902b7-01-", false),
            ("ff-\(traceIdentifier)-00f067aa0ba902b7-01", false),
            ("zz-\(traceIdentifier)-00f067aa0ba902b7-01", false), ("0-\(traceIdentifier)-00f067aa0ba902b7-01", false),
            ("zz-\(traceIdentifier)-################-", false), ("00-\(traceIdentifier)-################-01", false),
            ("00-\(traceIdentifier)-00f067aa0ba902b7-", false), ("00-\(traceIdentifier)-00f067aa0ba902b7-0x", false),
            ("00-\(traceIdentifier)-00f067aa0ba902b7", false),
            ("00-\(traceIdentifier)-0000000000000000-01", false),
            ("00-\(traceIdentifier)-00F067AA0BA902B7-01", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-\(traceIdentifier)0-00f067aa0ba902b7-01", false), ("", false), ("---", false),
        ])
    func traces(value: String, isValid: Bool) async throws {
        let api = TestedAPI(.inProcess)
        _ = try await api.send("GET", "/api/tasks", as: "alice", [("traceparent", value)])
        #expect(api.records.all.map(\.trace) == [isValid ? Self.traceIdentifier : nil])
    }
}
