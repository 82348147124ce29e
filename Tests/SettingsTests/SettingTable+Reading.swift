import Basics
import Settings
import Support

extension SettingTable {
    /// Reads arguments and variables, and files that have these texts.
    static func read(
        _ arguments: [String] = [], _ environment: [String: String] = [:], files: [String: String] = [:]
    ) throws(SettingMistakes) -> ReadSettings<Self> {
        try read(
            SettingInput(arguments: arguments, environment: environment) { path in
                files[path].map { .success($0) } ?? .failure(OperatorError("No such file or directory"))
            })
    }

    static func mistakes(_ arguments: [String] = [], _ environment: [String: String] = [:]) -> [String] {
        thrown { () throws(SettingMistakes) in _ = try read(arguments, environment) }?.messages ?? []
    }
}
