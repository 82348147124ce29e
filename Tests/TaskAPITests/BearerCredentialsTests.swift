import HTTP
import TaskAPI
import Testing

@Suite("Credentials of a request")
struct BearerCredentialsTests {
    private func read(_ fields: [String], query: [(String, String)] = [], allowQuery: Bool = false) -> BearerCredentials
    {
        let target = RequestTarget(
            raw: "/api/tasks", path: ["api", "tasks"],
            query: query.map { RequestTarget.Argument(name: $0.0, value: $0.1) })
        let headers = HeaderFields(fields.map { HeaderFields.Field(name: "Authorization", value: $0) })
        return BearerCredentials(
            of: RequestHead(method: .get, target: target, headers: headers), allowQuery: allowQuery)
    }

    @Test("V-01: the scheme in any case, spaces before the token, white space behind it; OAuth is its draft name")
    func schemes() {
        for value in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c", "OAuth a.b.c", "Bearer a.b.c \t"] {
            #expect(read([value]) == .token("a.b.c"))
        }
    }

    @Test("V-04: what is no token is a malformed request")
    func malformed() {
        for value in ["Bearer", "Bearer ", "Bearer\ta.b.c", "Bearer  \t"] {
            switch read([value]) {
            case .malformed: break
            case .token(let token): #expect(!BearerCredentials.isWellFormed(token), "\(value)")
            case .none, .queryNotAllowed: Issue.record("\(value) is not malformed")
            }
        }
        for token in ["a b", "a,b", "\"a\"", "ä", "=", "a=b", "", "a\tb"] {
            #expect(!BearerCredentials.isWellFormed(token))
        }
        for token in ["a", "a.b.c", "a-_~+/==", "A1"] { #expect(BearerCredentials.isWellFormed(token)) }
    }

    @Test("V-05: two fields are malformed, also the same twice")
    func twice() {
        #expect(read(["Bearer a.b.c", "Bearer a.b.c"]) == .malformed)
        #expect(read(["Basic eDp5", "Bearer a.b.c"]) == .malformed)
    }

    @Test("V-06: another scheme is no credentials")
    func otherScheme() {
        #expect(read([]) == .none)
        #expect(read(["Basic eDp5"]) == .none)
        #expect(read(["Bearera.b.c"]) == .none)
        #expect(read(["a.b.c"]) == .none)
    }

    @Test("V-02, V-03: a token in the query counts only where it is allowed, and never beside a header")
    func query() {
        let token = [("access_token", "a.b.c")]
        #expect(read([], query: token) == .queryNotAllowed)
        #expect(read([], query: token, allowQuery: true) == .token("a.b.c"))
        #expect(read(["Bearer a.b.c"], query: token, allowQuery: true) == .malformed)
        #expect(read(["Bearer a.b.c"], query: token) == .malformed)
    }
}
