import Basics
import HTTP
import Synchronization
import Tasks
import Zlib

/// Content in its two codings, as it is and with gzip (RFC 9110 section 8.4.1.3): chooses one for each request.
///
/// A state of some content is compressed once, however many ask for it at the same time, and the newest state of each is
/// kept. Content up to ``mostAtOnce`` bytes is compressed where it is asked for, longer content on a thread of Swift's pool.
final class ContentCodings: Sendable {
    /// Whose states replace each other.
    enum Subject: Hashable, Sendable {
        case list(Owner)
        case file(String)

        /// Lists change, files do not.
        fileprivate var effort: Gzip.Effort {
            switch self {
            case .list: .fast
            case .file: .thorough
            }
        }
    }

    /// Content of fewer bytes is never compressed: with the fields of its answer it fits in one packet anyway.
    static let least = 1024
    /// The longest content that is compressed on the event loop, in bytes: a list of this length takes 30 us.
    static let mostAtOnce = AnswerMemory.unleased

    private let answers: AnswerMemory
    private let kept: Mutex<KeptCodings>
    private let running = Mutex<[Job: Task<Coded, Never>]>([:])

    /// The state that is being compressed.
    private struct Job: Hashable {
        let subject: Subject
        let entityTag: String
    }

    init(_ configuration: TaskAPIConfiguration) {
        answers = configuration.answers
        kept = Mutex(KeptCodings(capacity: configuration.keptCodings))
    }

    /// The answer with this content: 304 if the client has it, in either coding that it accepts.
    func answer(_ content: Content, to head: RequestHead) -> HandlerResult {
        let prefersGzip = content.isCompressible && head.headers.preferGzip
        if head.headers.mayContain("If-None-Match") {
            if prefersGzip, head.headers.ifNoneMatch(content.gzipTag) {
                return .ready(content.unchanged(content.gzipTag))
            }
            if head.headers.ifNoneMatch(content.entityTag) { return .ready(content.unchanged(content.entityTag)) }
        }
        guard prefersGzip else { return .ready(content.response()) }
        if let coded = kept.withLock({ $0.find(content.subject, content.entityTag) }) {
            return .ready(response(content, coded))
        }
        if content.bytes.count <= Self.mostAtOnce { return .ready(response(content, compress(content))) }
        return .pending { [self] () async throws(APIFailure) in response(content, await start(content).value) }
    }

    /// The content as it was coded; as it is if there is no memory for an answer with the other form.
    private func response(_ content: Content, _ coded: Coded) -> Response {
        guard case .gzip(let form) = coded else { return content.response() }
        guard case .list(let owner) = content.subject, form.bytes.count > AnswerMemory.unleased else {
            return content.response(form, kept: nil)
        }
        guard let lease = form.lease(of: answers, for: owner) else { return content.response() }
        return content.response(form, kept: KeptObject(lease))
    }

    /// The compression of this state, which another request may have started.
    private func start(_ content: Content) -> Task<Coded, Never> {
        let job = Job(subject: content.subject, entityTag: content.entityTag)
        return running.withLock { running in
            if let task = running[job] { return task }
            // It may have ended since this request looked.
            if let coded = kept.withLock({ $0.find(content.subject, content.entityTag) }) { return Task { coded } }
            // Detached: a task of this connection would run on its event loop.
            let task = Task.detached { [self] in
                let coded = compress(content)
                self.running.withLock { _ = $0.removeValue(forKey: job) }
                return coded
            }
            running[job] = task
            return task
        }
    }

    /// As it is if gzip does not take half of it away, or if there is no memory for it.
    private func compress(_ content: Content) -> Coded {
        let limit = content.bytes.count / 2
        var lease: AnswerLease?
        if case .list(let owner) = content.subject, content.bytes.count > AnswerMemory.unleased {
            lease = answers.lease(limit, for: owner)
            if lease == nil { return .identity }
        }
        defer { withExtendedLifetime(lease) {} }
        let bytes = Gzip.compress(content.bytes, content.subject.effort, limit: limit)
        let coded = bytes.map { Coded.gzip(GzipForm($0, entityTag: content.gzipTag)) } ?? .identity
        if content.isWhole { kept.withLock { $0.keep(coded, content.subject, content.entityTag) } }
        return coded
    }
}

/// What some content was compressed to.
enum Coded: Sendable {
    /// It stays as it is.
    case identity
    case gzip(GzipForm)
}

/// What gzip made of a state.
final class GzipForm: Sendable {
    private struct Holder {
        weak var lease: AnswerLease?
    }

    let bytes: [UInt8]
    let entityTag: String
    /// The lease of the answers under way with these bytes.
    private let holder = Mutex(Holder())

    init(_ bytes: [UInt8], entityTag: String) {
        (self.bytes, self.entityTag) = (bytes, entityTag)
    }

    /// The lease of an answer with these bytes, which all such answers share; nothing if there is no room for it.
    func lease(of answers: AnswerMemory, for owner: Owner) -> AnswerLease? {
        holder.withLock { holder in
            if let lease = holder.lease { return lease }
            let lease = answers.lease(bytes.count, for: owner)
            holder.lease = lease
            return lease
        }
    }
}

/// A state of some content, before its coding is chosen.
struct Content: Sendable {
    let subject: ContentCodings.Subject
    /// Whether it is the whole subject, whose compressed form is kept; false for a page of a list.
    var isWhole = true
    /// False for what is compressed already, such as pictures.
    var mayShrink = true
    let bytes: [UInt8]
    /// The strong entity tag of these bytes, in quotes.
    let entityTag: String
    /// The fields of its answers, with this entity tag.
    let headers: FieldLines
    /// See ``HTTP/Response/kept``.
    var kept: KeptObject?

    var isCompressible: Bool { mayShrink && bytes.count >= ContentCodings.least }

    /// The entity tag of the bytes that gzip makes of these (RFC 9110 section 8.8.3.3).
    var gzipTag: String { "\(entityTag.dropLast())-gzip\"" }

    /// The answer to a client that has the bytes of this tag.
    func unchanged(_ tag: String) -> Response {
        var response = Response(304, headers: headers)
        if !tag.isSame(as: entityTag) { response.headers.set("ETag", tag) }
        return response
    }

    /// The answer with the content as it is.
    func response() -> Response {
        var response = Response(200, headers: headers, body: bytes)
        response.kept = kept
        return response
    }

    /// The answer with what gzip made of the content, and the lease of those bytes in place of that of the content.
    func response(_ form: GzipForm, kept: KeptObject?) -> Response {
        var response = Response(200, headers: headers, body: form.bytes)
        response.headers.set("ETag", form.entityTag)
        response.headers.append("Content-Encoding", "gzip")
        response.kept = kept
        return response
    }
}

/// What was compressed last of each subject, up to a number of bytes.
///
/// Two generations: what is used moves to the recent one, and when that has half of the bytes, the other is dropped.
struct KeptCodings {
    private struct Entry {
        let entityTag: String
        let coded: Coded

        /// The bytes and, estimated, the memory of the key, the tag and the collections.
        var cost: Int {
            switch coded {
            case .identity: 320
            case .gzip(let form): 320 + form.bytes.capacity
            }
        }
    }

    private let capacity: Int
    private var recent: [ContentCodings.Subject: Entry] = [:]
    private var earlier: [ContentCodings.Subject: Entry] = [:]
    /// The bytes of the recent ones.
    private var bytes = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// What this state was compressed to, if that is kept.
    mutating func find(_ subject: ContentCodings.Subject, _ entityTag: String) -> Coded? {
        if let entry = recent[subject] { return entry.entityTag.isSame(as: entityTag) ? entry.coded : nil }
        guard let entry = earlier[subject], entry.entityTag.isSame(as: entityTag) else { return nil }
        put(entry, subject)
        return entry.coded
    }

    /// Keeps it in the place of another state, unless it alone takes more than half of the bytes.
    mutating func keep(_ coded: Coded, _ subject: ContentCodings.Subject, _ entityTag: String) {
        put(Entry(entityTag: entityTag, coded: coded), subject)
    }

    private mutating func put(_ entry: Entry, _ subject: ContentCodings.Subject) {
        earlier[subject] = nil
        if let old = recent.removeValue(forKey: subject) { bytes -= old.cost }
        guard entry.cost <= capacity / 2 else { return }
        if bytes + entry.cost > capacity / 2 { (earlier, recent, bytes) = (recent, [:], 0) }
        recent[subject] = entry
        bytes += entry.cost
    }
}
