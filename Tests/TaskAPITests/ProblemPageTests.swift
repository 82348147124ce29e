import HTTP
import Support
import Tasks
import Testing
import Tokens

@testable import TaskAPI

/// `Public/problems.html` explains every problem that a client can get, and no other.
@Suite("The page of problems")
struct ProblemPageTests {
    /// One failure of each case; `isListed` does not compile without a case of these types.
    private static let failures: [APIFailure] =
        [.nothingHere, .methodNotAllowed([.get])]
        + ([
            .missing, .inQuery, .malformed, .token(.expired), .token(.tooLong), .token(.badSignature),
            .token(.keysUnavailable(retryAfter: 1)), .missingScope("Tasks.Read"), .tooManyRequests(retryAfter: 1),
        ] as [CredentialFailure]).map { .credentials($0) }
        + ([
            .missingText(looksLikeJSON: false), .missingText(looksLikeJSON: true), .text(.empty),
            .text(.tooLong(bytes: 5000)), .text(.containsNUL), .malformedJSON(offset: 1), .malformedForm,
            .tooManyFormFields, .unsupportedMediaType, .changesMediaType, .contentCoding,
            .field(name: "completed", expected: "true"), .contradiction(.text), .contradiction(.completed),
            .detail(name: "due", expected: "a date"), .argument(name: "limit", expected: "a number"),
            .malformedChanges(offset: 1), .change(number: 1, .malformedForm), .malformedIdempotencyKey,
            .idempotencyKeyReused, .unclearDeletion, .unconfirmedDeletion,
        ] as [InputFailure]).map { .input($0) }
        + ([
            .noSuchTask, .noSuchTasks([7]), .tooManyTasks(limit: 7), .changedMeanwhile, .tasksChangedMeanwhile([7]),
            .changesForgotten, .tooManyStreams(limit: 7), .streamsFull, .store(.overloaded),
            .store(.noRoomForAnswer), .store(.unavailable(reason: "")), .store(.full),
            .store(.broken(reason: "")), .store(.ownerDeleted),
        ] as [StateFailure]).map { .state($0) }

    private static func isListed(_ failure: APIFailure) -> Bool {
        switch failure {
        case .nothingHere, .methodNotAllowed: true
        case .credentials(let failure):
            switch failure {
            case .missing, .inQuery, .malformed, .token, .missingScope, .tooManyRequests: true
            }
        case .input(let failure):
            switch failure {
            case .missingText, .text, .malformedJSON, .malformedForm, .tooManyFormFields, .unsupportedMediaType,
                .changesMediaType, .contentCoding, .field, .contradiction, .detail, .argument, .malformedChanges,
                .change, .malformedIdempotencyKey, .idempotencyKeyReused, .unclearDeletion,
                .unconfirmedDeletion:
                true
            }
        case .state(let failure):
            switch failure {
            case .noSuchTask, .noSuchTasks, .tooManyTasks, .changedMeanwhile, .tasksChangedMeanwhile, .changesForgotten,
                .tooManyStreams, .streamsFull,
                .store:
                true
            }
        }
    }

    /// The texts between two marks of the page, each as often as it occurs.
    private static func texts(_ page: String, between begin: String, and end: String) -> [String] {
        page.split(separator: begin).dropFirst().map { rest in
            String(rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.startIndex)])
        }
    }

    private static let page = Result {
        String(decoding: try TestFile("../../Public/problems.html").bytes(), as: UTF8.self)
    }

    @Test func `It explains every problem with its status and its title, and no other problem`() throws {
        #expect(Self.failures.allSatisfy(Self.isListed))
        let sections = try Self.texts(Self.page.get(), between: "<section class=\"entry\" id=\"", and: "</section>")
        var explained: [String: String] = [:]
        for section in sections { explained[String(section.prefix { $0 != "\"" })] = section }
        let problems = HTTPFault.allCases.map(\.problem) + Self.failures.map(\.problem)
        #expect(Set(problems.map(\.code)) == Set(explained.keys))
        for problem in problems {
            let section = explained[problem.code] ?? ""
            #expect(section.contains(">\(problem.status.rawValue)</span>"), "\(problem.code)")
            // The title of request.method is worded twice, by HTTP and by the API.
            let isTitled = section.contains("<p class=\"entry-title\">\(problem.title)</p>")
            #expect(isTitled || problem.code == "request.method", "\(problem.code)")
        }
    }

    @Test func `It explains every reason for which explain-token and the log name a refusal`() throws {
        let explained = Set(Self.texts(try Self.page.get(), between: "<code>", and: "</code>"))
        let mistakes: [CommonMistake] = [
            .graphToken, .versionOneToken, .idToken, .applicationToken, .recentlyExpired(seconds: 1), .audienceForm,
            .loginHost, .wrongTenant, .wrongPolicy, .missingObjectIdentifier, .opaqueOrEncrypted,
            .otherService(isB2C: true),
        ]
        #expect(Set(TokenRefusal.all.map(\.code) + mistakes.map(\.code)).subtracting(explained) == [])
    }
}
