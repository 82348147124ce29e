@testable import IssuerKeys
import JSON
import Support
import Testing

@Suite("Documents of real providers are taken, or refused with a reason", .timeLimit(.minutes(15)))
struct RecordedProviderTests {
    @Test("Each is taken or refused as it is known to be", arguments: RecordedTrial.all)
    func taken(trial: RecordedTrial) throws {
        let report = try trial.report()
        #expect((report.problem == nil) == trial.isTaken, "\(report.problem ?? "taken")")
        #expect((report.contents?.keyIdentifiers.isEmpty ?? true) == !trial.isTaken)
    }

    @Test("Every recorded provider is tried")
    func complete() throws {
        let names = try Set(RecordedProvider.all().map(\.name))
        #expect(names == Set(RecordedTrial.all.map(\.provider)) && names.count >= 15)
    }

    @Test("docs/recorded-providers.md says what the server says of each")
    func table() throws {
        let document = try String(decoding: TestFile("../../../docs/recorded-providers.md").bytes(), as: UTF8.self)
        let written = document.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map(String.init)
        let rows = try RecordedTrial.all.map { try $0.row() }
        let isSame = written == rows
        #expect(isSame, "write this table:\n\(rows.joined(separator: "\n"))")
    }
}
