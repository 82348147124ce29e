import IssuerKeys
import Platform
import Settings

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
