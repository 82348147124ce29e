import Curl
import Glibc
import Platform
import Support
import Testing
import Tokens

@testable import IssuerKeys

@Suite("Keys survive a restart in a file (V-88)")
struct KeyFileTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/keys.json" }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A verifier that read the file at its start and has fetched nothing.
    private func restarted(
        after seconds: Double = 0, source: MetadataDocument = policy(),
        _ change: (inout IssuerKeysConfiguration) -> Void = { _ in }
    ) -> Bench {
        let bench = Bench([source]) {
            $0.keyCacheFile = path
            change(&$0)
        }
        bench.provider.fail(.couldNotConnect(reason: "test"))
        bench.time.advance(seconds: seconds)
        bench.verifier.keys.readFile()
        return bench
    }

    /// Writes the file as a server does that loads its keys when the test clock starts.
    private func write() {
        Bench.loaded { $0.keyCacheFile = path }.verifier.stop()
    }

    @Test func `The file has mode 0600, and its keys serve as stale and age on`() async {
        write()
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        let bench = restarted(after: 3000)
        #expect(bench.verifier.status.state == .stale && bench.verifier.status.ageSeconds == 3000)
        #expect(bench.events.all.contains(.fileRead(documents: 1)))
        #expect(await bench.refusal(makeToken()) == nil)
        #expect(bench.provider.asked.isEmpty)
        bench.refresh()
        #expect(bench.provider.asked == [policy().metadataURL], "keys of the file are due at once")
        bench.time.advance(seconds: 83_400)
        #expect(bench.verifier.status.state == .expired)
    }

    @Test func `A restart does not extend trust: keys that are too old or from the future are ignored`() {
        write()
        #expect(restarted(after: 86_399).verifier.status.state == .stale)
        #expect(restarted(after: 86_400).verifier.status.state == .empty)
        let past = Bench { $0.keyCacheFile = path }
        past.time.setWall(by: -10)
        past.verifier.keys.readFile()
        #expect(past.verifier.status.state == .empty)
        #expect(past.events.all == [.fileIgnored(reason: "\(TestClaims.policy): its keys were fetched in the future")])
    }

    @Test func `Keys of another address, another pinned issuer, or a distrusted kid are not taken`() {
        write()
        #expect(restarted(source: policy("other")).verifier.status.state == .empty)
        var pinned = policy()
        pinned.rules.pinnedIssuer = "https://contoso.b2clogin.com/other/v2.0/"
        #expect(restarted(source: pinned).verifier.status.state == .empty)
        pinned.rules.pinnedIssuer = TestClaims.issuer
        #expect(restarted(source: pinned).verifier.status.state == .stale)
        #expect(restarted { $0.distrustedKeys = [TestClaims.keyIdentifier] }.verifier.status.state == .empty)
    }

    @Test func `Nothing in a broken file is trusted, and nothing traps`() throws {
        write()
        let whole = try File.read(path)
        let text = String(decoding: whole, as: UTF8.self)
        let broken = [
            "", "{}", "[]", "\u{0}", "{\"version\":2,\"sources\":[]}", "{\"version\":1}",
            String(text.dropLast()), text.replacing("fetched_at", with: "fetched"),
            text.replacing("\"n\":\"", with: "\"n\":\"A"),
            text.replacing("https://contoso.b2clogin.com/775", with: "https://evil.example/775"),
        ]
        for text in broken {
            try File.replace(path, with: Array(text.utf8))
            let bench = restarted()
            #expect(bench.verifier.status.state == .empty, "\(text)")
            #expect(bench.events.all.contains { if case .fileIgnored = $0 { true } else { false } }, "\(text)")
        }
        for length in stride(from: 0, to: whole.count, by: 7) {
            try File.replace(path, with: Array(whole.prefix(length)))
            #expect(restarted().verifier.status.state == .empty)
        }
    }

    @Test func `Nothing but an empty file and keys, of any version, is replaced`() throws {
        write()
        let whole = String(decoding: try File.read(path), as: UTF8.self)
        let written: KeyEvent = .fileNotWritten(
            reason: "write '\(path)': it holds something else than keys; move it away, or name another file")
        let large = "{\"version\":1,\"sources\":[]}" + String(repeating: " ", count: 1 << 22)
        for text in ["notes", "{}", "[]", "{\"version\":1}", "{\"sources\":[]}", String(whole.dropLast()), large] {
            try File.replace(path, with: Array(text.utf8))
            let bench = Bench.loaded { $0.keyCacheFile = path }
            bench.verifier.stop()
            #expect(bench.events.all.contains(written), "\(text.prefix(40)) \(bench.events.all)")
            #expect(String(decoding: try File.read(path, limit: 1 << 23), as: UTF8.self) == text)
        }
        for text in ["", whole, "{\"version\":2,\"sources\":[1],\"more\":1}"] {
            try File.replace(path, with: Array(text.utf8))
            Bench.loaded { $0.keyCacheFile = path }.verifier.stop()
            #expect(String(decoding: try File.read(path), as: UTF8.self) == whole)
        }
    }

    @Test
    func `A missing file is no event; a file that cannot be written is one, and the keys serve all the same`() async {
        #expect(restarted().events.all == [])
        let bench = Bench.loaded { $0.keyCacheFile = "/proc/none/keys.json" }
        #expect(bench.events.all.contains { if case .fileNotWritten = $0 { true } else { false } })
        #expect(await bench.refusal(makeToken()) == nil)
    }
}
