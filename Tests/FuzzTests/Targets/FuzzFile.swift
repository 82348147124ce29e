import Glibc
import Platform
import Support
import Synchronization

/// A file for what is read from files, written anew for each input.
final class FuzzFile: Sendable {
    static let shared = FuzzFile()
    private let folder: Mutex<TemporaryFolder?>

    private init() {
        do {
            folder = Mutex(try TemporaryFolder())
        } catch {
            preconditionFailure("no folder for the fuzzed file: \(error)")
        }
        // A value that lives as long as the process is never deinitialized, so the folder would stay.
        atexit { FuzzFile.shared.folder.withLock { $0 = nil } }
    }

    /// The path of the file, which now holds these bytes.
    func holding(_ bytes: [UInt8]) throws -> String {
        guard let path = folder.withLock({ $0?.file("input") }), let file = fopen(path, "w") else {
            throw BrokenInvariant(description: "the fuzzed file opens")
        }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        return path
    }
}
