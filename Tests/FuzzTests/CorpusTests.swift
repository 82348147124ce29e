import Platform
import Support
import Testing

/// Every input of the corpora, once: what the fuzzers found stays fixed without them.
@Suite("Fuzzed inputs", .serialized)
struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func `Every input keeps the invariants`(target: FuzzTarget) async throws {
        let inputs = try Corpus.inputs(of: target)
        #expect(inputs.count >= 5, "a target without seeds is not tested")
        // The target runs on a thread of its own, because Swift has few threads that must not wait.
        let thread = try OwnThread()
        defer { thread.end() }
        let failures = await withTaskExecutorPreference(thread) { inputs.compactMap { $0.failure(in: target) } }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    @Test func `A broken invariant is reported with its input`() throws {
        let input = Corpus.Input(path: "seed", bytes: [])
        #expect(input.failure { _ in try require(false, "nothing holds") } == "seed: does not hold: nothing holds")
        #expect(input.failure { _ in } == nil)
    }
}

/// The inputs that are kept in the repository.
enum Corpus {
    struct Input: Sendable {
        let path: String
        let bytes: [UInt8]

        func failure(in target: FuzzTarget) -> String? { failure(target.check) }

        func failure(_ check: ([UInt8]) throws -> Void) -> String? {
            do {
                try check(bytes)
                return nil
            } catch {
                return "\(path): \(error)"
            }
        }
    }

    static func inputs(of target: FuzzTarget) throws -> [Input] {
        let folder = TestFile("Corpus/\(target.rawValue)").path
        return try Folder.files(below: folder).map { name in
            Input(path: "\(folder)/\(name)", bytes: try TestFile("Corpus/\(target.rawValue)/\(name)").bytes())
        }
    }
}
