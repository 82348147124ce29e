import HTTP
import JSON
import Support
import Testing

@Suite("Problems have the form that the client can read")
struct ProblemTests {
    private func head(_ headers: HeaderSection) -> RequestHead {
        RequestHead(method: .get, target: RequestTarget(raw: "/", absolutePath: ""), headers: headers, identifier: "42")
    }

    /// What `Accept` and `Origin` make of a problem: for the clients of the contract, and at the addresses of old ones.
    @Test(
        arguments: [
            (["Accept": "application/json"], true, true), (["Accept": "text/html, Application/JSON;q=0.5"], true, true),
            (["accept": "application/problem+json"], true, true), (["Origin": "null"], true, true),
            (["Origin": "http://page", "Accept": "text/plain"], true, true),
            (["Accept": "text/html", "Accept": "application/json"], true, true), (["Accept": "*/*"], true, false),
            ([:], true, false), (["Accept": "application/json;q=0"], true, false),
            (["Accept": "application/json; q=0.000"], true, false), (["Accept": "application/jsonp"], true, false),
            (["Accept": ",;,"], true, false), (["Accept": ""], true, false), (["Accept": "text/*"], true, false),
            (["Accept": "text/plain"], false, false), (["Accept": "Text/Plain;q=0.1"], false, false),
            (["Accept": "text/plain, */*"], false, false), (["Accept": "*/*", "Accept": "text/plain"], false, false),
            (["Accept": "text/event-stream"], true, false), (["Accept": "text/html,*/*;q=0.8"], true, false),
            // RFC 9110 section 12.5.1: the most specific range counts for a type, and the higher weight wins.
            (["Accept": "application/*"], true, true), (["Accept": "Application/* ; q=0.1"], true, true),
            (["Accept": "application/*;q=0"], true, false), (["Accept": "application/*, */*"], true, true),
            (["Accept": "application/json, text/plain, */*"], true, true),
            (["Accept": "application/json, */*;q=0.8"], true, true),
            (["Accept": "text/plain, application/json;q=0.5"], false, false),
            (["Accept": "text/plain, application/problem+json"], true, true),
            (["Accept": "text/plain;q=0.4, */*;q=0.5"], true, true),
            (["Accept": "application/json;q=0.5, */*"], true, false), (["Accept": "text/plain;q=0, */*"], true, true),
            (["Accept": "application/*, application/json;q=0, application/problem+json;q=0"], true, false),
            (["Accept": "application/json;q=0, application/problem+json"], true, true),
            (["Accept": "application/xml"], true, false),
            (["Accept": "application/json;q=x, text/plain;q=0.1"], true, true),
            (["Accept": "application/json; charset=utf-8"], true, true),
            (["Accept": "application/json;Q=0"], true, false), (["Accept": "application/json;q=0.001"], true, true),
            (["Accept": "application/json;q=2, text/plain"], true, true),
        ] as [(HeaderSection, Bool, Bool)])
    func `A problem is JSON, unless text is preferred by name or an old client does not ask`(
        headers: HeaderSection, isJSON: Bool, isJSONForOld: Bool
    ) {
        for (isOld, isJSON) in [(false, isJSON), (true, isJSONForOld)] {
            let response = HTTPFault.target.problem.response(for: head(headers), isOld: isOld)
            let type = response.headers["Content-Type"]
            #expect(type == (isJSON ? "application/problem+json" : "text/plain; charset=utf-8"), "old: \(isOld)")
            #expect(response.headers["Cache-Control"] == "no-store")
            #expect(response.status == 400)
        }
    }

    @Test(
        arguments: [
            // Chromium and Firefox; Safari; a browser before 2015.
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", true),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true), ("text/html, */*", true),
            ("TEXT/HTML", true), ("text/html;q=0.9, application/json;q=0.8", true), ("text/html;level=1", true),
            // Everybody else: no field, scripts of pages, API clients, those who take HTML as the last resort.
            (nil, false), ("", false), ("*/*", false), ("text/*", false), ("text/html;q=0", false),
            ("text/htmlx", false),
            ("application/json, text/html", false), ("application/json, text/html;q=0.9, */*;q=0.1", false),
            ("text/html;q=0.9, */*", false), ("application/problem+json, text/html;q=0.5", false),
            ("text/html, text/plain", false), ("application/*, text/html", false), ("application/json", false),
            // HttpURLConnection of Java, which the sample for Android does not use.
            ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", true),
        ] as [(String?, Bool)])
    func `HTML is for browsers that ask for a page`(accept: String?, isHTML: Bool) {
        let headers: HeaderSection = accept.map { ["Accept": $0] } ?? [:]
        #expect(headers.preferHTML == isHTML)
    }

    @Test func `A problem has the members of RFC 9457 and those of old readers`() throws {
        let problem = Problem(
            409, "a.b", "Title \"x\"", "Do y.", identifiers: [3], headers: ["Allow": "GET"])
        for problem in [problem, problem.prepared()] {
            for base in ["", "/base"] {
                let response = problem.response(for: head([:]), below: base)
                #expect(
                    try JSONValue(parsing: response.body) == [
                        "type": .string("\(base)/problems.html#a.b"), "title": "Title \"x\"", "status": 409,
                        "detail": "Do y.", "code": "a.b", "ids": [3], "instance": "/requests/42", "error": "a.b",
                        "message": "Do y.",
                    ])
                #expect(response.headers["Allow"] == "GET")
            }
        }
    }

    @Test func `A problem as text is one line`() {
        let response = Problem(409, "a.b", "Title", "Do y.").response(for: nil)
        #expect(String(decoding: response.body, as: UTF8.self) == "Title. Do y. (a.b)\n")
    }

    @Test(arguments: HTTPFault.allCases)
    func `Every fault has a problem of its own, with a sentence`(fault: HTTPFault) {
        let problem = fault.problem
        #expect(problem.status.rawValue >= 400)
        #expect(problem.detail.hasSuffix("."))
        #expect(!problem.title.hasSuffix("."))
        #expect(HTTPFault.allCases.filter { $0.problem.code == problem.code } == [fault])
        #expect(problem.status != 405 || problem.headers["Allow"] != nil)
        #expect(problem.status != 503 || problem.headers["Retry-After"] != nil)
    }
}
