import Basics
import Curl
import HTTP
import HTTPServer
import IssuerKeys
import OpenSSL
import Platform
import PostgreSQL
import SQLite
import Settings
import TaskAPI
import Tasks

/// The running server: its parts, started and stopped in their order.
final class TaskServerProcess: Sendable {
    private let settings: ServerSettings
    private let observation: Observation
    private let store: OpenStore
    private let verifier: BearerVerifier
    private let readiness: Readiness
    private let servers: Listeners
    private let streams: ChangeStreams
    private let streamsCheck = RepeatingThread()
    private let manager: ServiceManager

    /// Binds the addresses, starts everything, and listens at the end.
    ///
    /// So a taken port is reported before anything else is opened, and every request that is accepted has its answer.
    /// The first keys may still be missing.
    init(
        _ settings: ServerSettings, _ observation: Observation, of manager: ServiceManager, _ signals: Signals
    ) throws(OperatorError) {
        self.settings = settings
        self.observation = observation
        self.manager = manager
        if let mistake = settings.keyCacheMistake { throw OperatorError(mistake) }
        let handover = Handover(of: manager, settings.limits, signals, observation.log)
        let bound = try BoundAddresses(settings, handover)
        let answers = AnswerMemory(limit: settings.limits.answerMemory)
        store = try handover.waiting(for: "TASKS_DATABASE", while: \.isDatabaseLocked) { () throws(OperatorError) in
            try handover.hearing { () throws(OperatorError) in
                try OpenStore(settings.storage, answers: answers) { observation.observe($0) }
            }
        }
        let verifier = BearerVerifier(settings.issuerKeys, observer: { observation.observe($0) })
        self.verifier = verifier
        readiness = Readiness(verifier, store.store)
        let isShared = if case .postgresql = settings.storage.database { true } else { false }
        let metrics: MetricsPage
        do throws(OperatorError) {
            // First, so that the keys arrive while the files of the page are read.
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try verifier.start() }
            let base = try Self.api(settings, observation, store, verifier, readiness, answers)
            let api = TaskAPI(base)
            streams = api.streams
            metrics = MetricsPage(observation, store, verifier, readiness, answers, streams)
            try rethrowing(as: OperatorError.init) { [streams, streamsCheck] () throws(SystemError) in
                // On a thread of its own: while tasks wait, libdispatch opens files, and ends the process if it cannot.
                try streamsCheck.start("streams") {
                    streams.check(comparing: isShared)
                    return Int64(clamping: SystemTime().monotonicNanoseconds) + 1_000_000_000
                }
            }
            servers = try Listeners(
                on: bound, settings, observation, api: api, below: base.base,
                operators: OperatorPages(readiness: readiness, metrics: metrics))
        } catch {
            verifier.stop()
            store.store.close()
            throw error
        }
        metrics.watch(servers)
    }

    private static func api(
        _ settings: ServerSettings, _ observation: Observation, _ store: OpenStore, _ verifier: BearerVerifier,
        _ readiness: Readiness, _ answers: AnswerMemory
    ) throws(OperatorError) -> TaskAPIConfiguration {
        var configuration = TaskAPIConfiguration(store: store.store, verifier: verifier)
        configuration.answers = answers
        configuration.scopes = settings.sources.scopesToAsk
        configuration.authorizationServers = { verifier.openIssuers }
        configuration.examine = { token, refusal in
            // The first half of a digest: enough to know a token again, nothing to guess it from.
            let fingerprint = String(hexadecimal: SHA256.digest(Array(token.utf8)).prefix(8))
            return RefusedToken(token, fingerprint: fingerprint, mistake: verifier.mistake(in: token, refused: refusal))
        }
        configuration.publicAddress = settings.transport.publicAddress?.text
        configuration.isSecure = settings.transport.isSecure
        configuration.allowQueryToken = settings.tokens.allowInQuery
        configuration.origins = settings.tokens.origins
        configuration.bodyLimit = settings.limits.body
        configuration.taskLimit = settings.limits.tasks
        configuration.rateLimit = settings.limits.rate
        configuration.streams = settings.limits.streams
        configuration.page = settings.page
        configuration.files = try PublicFiles.read(settings.storage.folder)
        let missing = PublicFiles.missing(in: configuration.files)
        if !missing.isEmpty, settings.storage.folder != .none {
            observation.log.write(.warning, "page-incomplete") { line in
                line.text("missing", missing.joined(separator: " "))
                line.text(
                    "consequence",
                    "requests for these files are 404, also where a problem links to its type; see TASKS_PUBLIC")
            }
        }
        configuration.readiness = { await readiness.reason() }
        configuration.observe = { observation.observe($0) }
        return configuration
    }

    /// Serves until a signal says to stop, then stops.
    func run(until signals: Signals, _ reload: SettingsReload) {
        announce()
        tell(.ready)
        while true {
            switch signals.next(within: manager.watchdogPause) {
            case .hangup: self.reload(reload)
            case .terminate, .interrupt: return stop(signals)
            case nil: tell(.alive)
            }
        }
    }

    private func reload(_ reload: SettingsReload) {
        tell(.reloading)
        reload.apply(to: verifier)
        servers.reloadCredentials(settings.transport, observation.log)
        let granted = verifier.refreshNow()
        observation.log.write(.info, "keys-refresh") { $0.text("asked", granted ? "now" : "too often") }
        tell(.ready)
    }

    private func tell(_ state: ServiceManager.State) {
        do throws(SystemError) {
            try manager.tell(state)
        } catch {
            observation.log.write(.warning, "service-manager-not-told") { $0.text("reason", error.description) }
        }
    }

    private func announce() {
        observation.log.write(.info, "listening") { line in
            line.text("listen", servers.addresses.joined(separator: ","))
            line.text("admin", servers.operatorAddress)
            line.text("version", programVersion)
            line.number("process", Int(ProcessFacts.identifier))
        }
        observation.log.write(.info, "libraries") { line in
            line.text("libmicrohttpd", libmicrohttpdVersion)
            line.text("openssl", openSSLVersion)
            line.text("libcurl", libcurlVersion)
            switch settings.storage.database {
            case .memory, .sqlite: line.text("sqlite", sqliteVersion)
            case .postgresql: line.text("libpq", libpqVersion)
            }
        }
        // These settings work, and probably not as they were meant.
        for warning in settings.issuerKeys.warnings {
            observation.log.write(.warning, "source-settings") { $0.text("warning", warning, limit: 512) }
        }
    }

    private func stop(_ signals: Signals) {
        observation.log.write(.info, "stopping")
        tell(.stopping)
        // A second signal is from an operator who does not want to wait.
        _ = try? NamedThread.start("second-signal") {
            while true {
                if signals.next() != .hangup { exitProcess(.failure) }
            }
        }
        readiness.stop()
        // A balancer sends requests until it has noticed, also over connections that would be closed as unused.
        SystemTime().sleep(nanoseconds: UInt64(settings.limits.shutdownDelay.nanoseconds))
        streamsCheck.requestStop()
        streams.endAll(.stopping)
        servers.stop(within: settings.limits.shutdownPatience)
        verifier.stop()
        store.store.close()
        observation.log.write(.info, "stopped")
    }
}

/// Reads the settings again while the server runs, and applies those that can change then.
///
/// A process keeps its flags and its environment, so only what files contain can change.
struct SettingsReload {
    private static let reloadable = ["TASKS_LOG_LEVEL", "TASKS_DISTRUSTED_KEYS"]

    /// The settings of the start.
    let started: ReadSettings<ServerSettings>
    let input: SettingInput
    let log: Log

    /// Applies the log level and the distrusted keys, and names settings that need a restart; mistakes change nothing.
    func apply(to verifier: BearerVerifier) {
        do throws(SettingMistakes) {
            let read = try ServerSettings.read(input)
            log.setLevel(read.values.log.level)
            verifier.distrust(read.values.tokens.distrustedKeys)
            log.write(.info, "settings-reloaded") { line in
                line.text("logLevel", read.values.log.level.rawValue)
                line.number("distrustedKeys", read.values.tokens.distrustedKeys.count)
            }
            for variable in read.changes(since: started) where !Self.reloadable.contains(variable) {
                log.write(.warning, "restart-needed") { $0.text("setting", variable) }
            }
        } catch {
            for message in error.messages {
                log.write(.error, "settings-not-reloaded") { $0.text("mistake", message, limit: 512) }
            }
        }
    }
}
