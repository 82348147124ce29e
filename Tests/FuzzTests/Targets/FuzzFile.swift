import Glibc
import Platform
import Support

/// A file for what is read from files, written anew for each input.
final class FuzzFile: Sendable {
    static let shared = FuzzFile()
    private let folder: TemporaryFolder

    private init() {
        do {
            folder = try TemporaryFolder()
        } catch {
            preconditionFailure("no folder for the fuzzed file: \(error)")
        }
    }

    /// The path of the file, which now holds these bytes.
    func holding(_ bytes: [UInt8]) throws -> String {
        let path = folder.path + "/input"
        guard let file = fopen(path, "w") else { throw BrokenInvariant(description: "the fuzzed file opens") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        return path
    }
}
