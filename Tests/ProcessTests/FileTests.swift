import Glibc
import Platform
import Support
import Testing

@Suite("Files that are not what they should be") struct FileFaultTests {
    /// Makes something that is no file, such as a pipe, which would keep a reader waiting.
    private static func make(_ kind: String, _ path: String) {
        switch kind {
        case "a pipe": #expect(mkfifo(path, 0o600) == 0)
        case "a folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        }
    }

    private static let kinds = ["a pipe", "a folder", "a socket"]

    @Test(arguments: kinds)
    func `A key cache that is no file does not keep the server from starting, and is not changed`(kind: String)
        throws
    {
        let stage = try Stage()
        let path = "\(stage.folder)/keys"
        Self.make(kind, path)
        defer { rmdir(path) }
        let server = try stage.server(["TASKS_KEY_CACHE_FILE": path])
        #expect(server.process.output.contains("it is \(kind), not a file"))
        #expect(try server.stop() == .exit(0))
        #expect(File.otherKind(path) == kind)
        let check = try stage.run(["check"], ["TASKS_KEY_CACHE_FILE": path])
        #expect(check.end == .exit(1) && check.output.contains("keys: \(path) is \(kind), not a file"))
    }

    @Test func `A key cache that is a file of the database ends the start, under every name, also before it is made`()
        throws
    {
        let stage = try Stage()
        try #expect(stage.run(["migrate"]).end == .exit(0))
        let (database, missing) = (stage.database, "\(stage.folder)/missing.db")
        let (hard, soft, folder) = ("\(stage.folder)/hard", "\(stage.folder)/soft", "\(stage.folder)/folder")
        #expect(symlink(stage.folder, folder) == 0 && symlink("missing.db", soft) == 0)
        let before = try File.read(database)
        // The server itself refuses a database with two names.
        for (path, suffixes) in [(missing, ["", "-wal", "-shm", "-journal", ".lock"]), (database, ["", ".lock"])] {
            let other = "\(stage.folder)/./folder/\(path.dropFirst(stage.folder.count + 1))"
            for name in suffixes.flatMap({ ["\(path)\($0)", "\(other)\($0)"] }) {
                try expectRefusal(stage, ["TASKS_DATABASE": "sqlite:\(path)", "TASKS_KEY_CACHE_FILE": name], name)
            }
        }
        try expectRefusal(stage, ["TASKS_DATABASE": "sqlite:\(soft)", "TASKS_KEY_CACHE_FILE": missing], missing)
        try expectRefusal(stage, ["TASKS_DATABASE": "sqlite:\(missing)", "TASKS_KEY_CACHE_FILE": soft], soft)
        #expect(link(database, hard) == 0)
        try expectRefusal(stage, ["TASKS_KEY_CACHE_FILE": hard], hard)
        let check = try stage.run(["check"], ["TASKS_KEY_CACHE_FILE": hard])
        let message = "WRONG keys: TASKS_KEY_CACHE_FILE: \(hard) is also "
        #expect(check.end == .exit(1) && check.output.contains(message), "\(check.output)")
        #expect(!File.exists(missing))
        #expect(try File.read(database) == before)
    }

    /// Expects that a start is refused for the name of the key cache.
    private func expectRefusal(
        _ stage: Stage, _ settings: [String: String], _ name: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let start = try stage.run([], settings)
        #expect(start.end == .exit(1), "\(start)", sourceLocation: location)
        let message = "TASKS_KEY_CACHE_FILE: \(name) is also "
        #expect(start.errors.contains(message), "\(start.errors)", sourceLocation: location)
    }

    @Test(arguments: ["TASKS_TLS_CERT", "TASKS_TLS_KEY", "TASKS_CA_FILE", "TASKS_SOURCE_EXT_CA_FILE"])
    func `A key cache that is a file of certificates or a key ends the start`(setting: String) throws {
        let stage = try Stage()
        let path = "\(stage.folder)/file.pem"
        try File.replace(path, with: Array("a certificate".utf8))
        var settings = ["TASKS_KEY_CACHE_FILE": path, setting: path]
        if setting.contains("TLS") {
            settings.merge(["TASKS_TLS_CERT": "\(stage.folder)/other", "TASKS_TLS_KEY": "\(stage.folder)/other"]) {
                a, _ in a
            }
        }
        if setting.contains("EXT") {
            settings["TASKS_SOURCES"] = "ext"
            settings["TASKS_SOURCE_EXT_AUTHORITY"] = "https://contoso.ciamlogin.com"
            settings["TASKS_SOURCE_EXT_CLIENT_ID"] = "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"
        }
        let start = try stage.run([], settings)
        #expect(start.end == .exit(1) && start.errors.contains("\(path) is also the file of \(setting)"), "\(start)")
        #expect(String(decoding: try File.read(path), as: UTF8.self) == "a certificate")
    }

    @Test func `A file that is no key cache is found by check`() throws {
        let stage = try Stage()
        let path = "\(stage.folder)/notes.txt"
        try File.replace(path, with: Array("notes".utf8))
        let check = try stage.run(["check"], ["TASKS_KEY_CACHE_FILE": path])
        #expect(check.end == .exit(1) && check.output.contains("keys: \(path) holds something else than keys"))
    }

    @Test(arguments: kinds) func `A setting that names what is no file ends the start with one sentence`(kind: String)
        throws
    {
        let stage = try Stage()
        let path = "\(stage.folder)/it"
        Self.make(kind, path)
        defer { rmdir(path) }
        let tls = try stage.run([], ["TASKS_TLS_CERT": path, "TASKS_TLS_KEY": path])
        #expect(tls.end == .exit(1) && tls.errors.contains("it is \(kind), not a file"), "\(tls.errors)")
        let ca = try stage.run(["check"], ["TASKS_CA_FILE": path, "TASKS_AUTHORITY": "https://127.0.0.1:1/t"])
        #expect(ca.end == .exit(1) && ca.output.contains("cannot read the CA file \(path)"), "\(ca.output)\(ca.errors)")
        let database = try stage.run([], ["TASKS_DATABASE": "sqlite:\(path)"])
        #expect(database.end == .exit(1) && database.errors.contains("\(path) is \(kind), not a file"))
        for arguments in [["--config", path], ["--state", path]] {
            let mock = try ChildProcess(
                ChildProcess.built("mock-authority"), arguments + ["--listen", "127.0.0.1:0"])
            if kind == "a folder", arguments[0] == "--state" { continue }
            #expect(try mock.wait() == .exit(78))
            #expect(mock.errors.contains(kind) || mock.errors.contains("Not a directory"), "\(mock.errors)")
        }
    }
}
