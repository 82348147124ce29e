import Platform

extension ServerSettings {
    /// The mistake if the file for keys is also another file of the server, which the keys would replace.
    var keyCacheMistake: String? {
        guard let path = storage.keyCache else { return nil }
        let others = storage.databaseFiles + transport.files + sources.certificateFiles
        guard let other = others.first(where: { File.isSame(path, as: $0.path) }) else { return nil }
        return "TASKS_KEY_CACHE_FILE: \(path) is also \(other.name), which the keys would replace; name a file of its "
            + "own, or off"
    }
}

/// A file that a setting names, or that follows from one.
struct NamedFile {
    /// What it is, for a person: `the file of TASKS_TLS_KEY`.
    let name: String
    let path: String

    init(_ name: String, _ path: String) {
        (self.name, self.path) = (name, path)
    }

    /// The file of this setting, if it names one.
    init?(setting: String, _ path: String?) {
        guard let path else { return nil }
        self.init("the file of \(setting)", path)
    }
}

extension StorageSettings {
    /// The database, the files that SQLite keeps beside it, and its lock.
    fileprivate var databaseFiles: [NamedFile] {
        guard let path = database.path else { return [] }
        return [path, File.target(of: path)].flatMap { path in
            [NamedFile("the database", path)]
                + ["-wal", "-shm", "-journal", ".lock"].map { NamedFile("a file of the database", path + $0) }
        }
    }
}

extension SourcesSettings {
    fileprivate var certificateFiles: [NamedFile] {
        all.compactMap { NamedFile(setting: $0.setting("CA_FILE"), $0.provider.certificates) }
    }
}
