import Basics
import TaskArchive
import Platform

/// The file of an export: `FILE.part` until it is whole, then `FILE`.
struct ExportFile: ~Copyable {
    private let target: String
    private let partial: String
    private let file: GrowingFile
    /// What an earlier export has left.
    let found: PartialExport

    /// Opens the file, and with `resume` cuts it back to where an export can continue.
    init(_ target: String, resume: Bool) throws(StartFailure) {
        let partial = "\(target).part"
        // An export that failed before its first line has left an empty file.
        guard resume || (try? File.size(partial)) ?? 0 == 0 else {
            throw StartFailure(
                message: "\(partial) exists: an export did not finish. \(Self.advice(target)), or "
                    + "remove it")
        }
        let file = try Self.open(partial)
        // Checked after the file is locked: another export may have ended before that.
        guard !File.exists(target) else {
            if (try? File.size(partial)) == 0 { File.remove(partial) }
            throw StartFailure(message: ArchiveError.targetExists(path: target).message)
        }
        found = try Self.cutBack(file, partial)
        self.file = file
        (self.target, self.partial) = (target, partial)
    }

    /// How to continue an export that ended here.
    var advice: String { Self.advice(target) }

    private static func advice(_ target: String) -> String { "Continue with: task-server export --resume \(target)" }

    /// Appends to what the file has.
    borrowing func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.append(bytes)
    }

    /// Gives the whole file its name.
    borrowing func publish(tasks: Int) throws(StartFailure) -> ExitStatus {
        try rethrowing(as: { StartFailure(message: "\($0). \(advice)") }) { () throws(SystemError) in
            try File.publish(partial, as: target)
        }
        StandardStream.error.print("task-server: \(tasks.counted("task")) exported to \(target)")
        return .success
    }

    private static func open(_ partial: String) throws(StartFailure) -> GrowingFile {
        do throws(FileLock.Failure) {
            return try GrowingFile.open(partial)
        } catch {
            switch error {
            case .held: throw StartFailure(message: "another export is writing \(partial)")
            case .system(let error): throw StartFailure(message: "\(error)")
            }
        }
    }

    private static func cutBack(
        _ file: borrowing GrowingFile, _ partial: String
    ) throws(StartFailure) -> PartialExport {
        let found: PartialExport?
        do throws(SystemError) {
            found = try PartialExport(of: partial)
            if let found, !found.isWhole { try file.cut(to: found.bytes) }
        } catch {
            throw StartFailure(message: "\(error)")
        }
        guard let found else {
            throw StartFailure(message: "\(partial) is not the beginning of an export; move it away")
        }
        return found
    }
}
