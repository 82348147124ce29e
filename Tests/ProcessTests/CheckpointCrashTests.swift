import Glibc
import Platform
import Support
import Testing

@Suite("A server killed while its log is copied into the database", .timeLimit(.minutes(15)))
struct CheckpointCrashTests {
    @Test func `Every task that was answered is there, in its place, after kill -9 during a checkpoint`() throws {
        let stage = try Stage()
        let token = try stage.token()
        var texts: [String] = []
        // The server of each round is killed when the first pages of a checkpoint are in the file, or a bit later.
        for round in 0..<4 {
            let server = try stage.server()
            #expect(try server.texts(token: token) == texts)
            let size = try File.size(stage.database) ?? 0
            var rest = 2000
            while try File.size(stage.database) == size, rest > 0 {
                rest -= 1
                let text = "\(texts.count) " + String(repeating: "x", count: 800)
                #expect(try server.add(text, token: token).status == 201)
                texts.append(text)
            }
            #expect(rest > 0, "no checkpoint in round \(round)")
            for _ in 0..<round {
                texts.append("one more \(texts.count)")
                #expect(try server.add(texts.last ?? "", token: token).status == 201)
            }
            server.process.send(SIGKILL)
            #expect(try server.process.wait() == .signal(SIGKILL))
        }
        let last = try stage.server()
        #expect(try last.texts(token: token) == texts)
        // A backup reads every page.
        #expect(try stage.run(["backup", "\(stage.folder)/copy.db"]).end == .exit(0))
    }
}
