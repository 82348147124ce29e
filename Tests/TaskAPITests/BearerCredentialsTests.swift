import HTTP
import Support
import TaskAPI
import Testing

@Suite("Credentials of a request")
struct BearerCredentialsTests {
    private func read(_ fields: [String], query: [(String, String)] = [], allowQuery: Bool = false) -> BearerCredentials
    {
        let target = RequestTarget(
            raw: "/api/tasks", absolutePath: "/api/tasks",
            query: query.map { RequestTarget.Argument(name: $0.0, value: $0.1) })
        let headers = HeaderSection(fields.map { HeaderSection.Field(name: "Authorization", value: $0) })
        return BearerCredentials(
            of: RequestHead(method: .get, target: target, headers: headers), allowQuery: allowQuery)
    }

    private func bytes(_ text: String) -> ArraySlice<UInt8> { ArraySlice(text.utf8) }

    @Test
    func `The scheme has any case, and white space around the token is dropped; OAuth is its draft name (V-01)`() {
        for value in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c", "OAuth a.b.c", "Bearer a.b.c \t"] {
            #expect(read([value]) == .token(bytes("a.b.c")))
        }
    }

    @Test func `A value that is no token is a malformed request (V-04)`() {
        for value in ["Bearer", "Bearer ", "Bearer\ta.b.c", "Bearer  \t"] {
            switch read([value]) {
            case .malformed: break
            case .token(let token): #expect(!BearerCredentials.isWellFormed(token), "\(value)")
            case .none, .queryNotAllowed: Issue.record("\(value) is not malformed")
            }
        }
        for token in ["a b", "a,b", "\"a\"", "ä", "=", "a=b", "", "a\tb"] {
            #expect(!BearerCredentials.isWellFormed(bytes(token)))
        }
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(
                BearerCredentials.isWellFormed([UInt8(ascii: "a"), byte, 0x61][...]) == letters.contains(byte),
                "\(byte)")
        }
        for token in ["a", "a.b.c", "a-_~+/==", "A1"] { #expect(BearerCredentials.isWellFormed(bytes(token))) }
    }

    @Test func `Another scheme is no credentials (V-06)`() {
        #expect(read([]) == .none)
        #expect(read(["Basic eDp5"]) == .none)
        #expect(read(["Bearera.b.c"]) == .none)
        #expect(read(["a.b.c"]) == .none)
        // Another scheme names someone, and a token in the query does not change whom.
        #expect(read(["Basic eDp5"], query: [("access_token", "a.b.c")], allowQuery: true) == .none)
        #expect(read(["Basic eDp5", "Bearer a.b.c"]) == .malformed)
        // Names of parameters have a case (RFC 6749 section 3.1 and appendix A): this is another parameter.
        #expect(read([], query: [("Access_Token", "a.b.c")], allowQuery: true) == .none)
    }
}
