import Curl
import IssuerKeys
import SQLiteStore
import Support
import Tasks
import Testing
import Tokens

@testable import TaskServer

@Suite("Whether the server is ready", .timeLimit(.minutes(15))) struct ReadinessTests {
    @Test func `However many ask at one moment, the store is asked once a second`() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTaskStore.open(path: folder.file("tasks.db"))
        defer { store.close() }
        let source = TokenSource(
            documents: [MetadataDocument(metadataURL: "https://a.example/.well-known/openid-configuration")],
            rules: ClaimRules(audiences: ["a"]))
        let verifier = BearerVerifier(IssuerKeysConfiguration(sources: [source]), fetcher: OneOfTwo())
        verifier.loadOnce()
        let clock = ManualClock()
        let readiness = Readiness(verifier, store, time: clock)
        for second in 1...2 {
            let reasons = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<200 { group.addTask { await readiness.reason() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reasons == Array(repeating: nil, count: 200))
            #expect(store.statistics.writes == second)
            clock.advance(seconds: 1)
        }
    }
}
