import Platform

extension ServerSettings {
    /// The mistake if the file for keys is also another file of the server, which the keys would replace.
    var keyCacheMistake: String? {
        guard let path = storage.keyCache,
            let other = otherFiles.first(where: { File.isSame(path, as: $0.path) })
        else { return nil }
        return "TASKS_KEY_CACHE_FILE: \(path) is also \(other.name), which the keys would replace; name a file of its "
            + "own, or off"
    }

    /// The database with the files beside it, and the files of other settings.
    private var otherFiles: [(name: String, path: String)] {
        let databases = storage.database.path.map { [$0, File.target(of: $0)] } ?? []
        let suffixes = ["-wal", "-shm", "-journal", ".lock"]
        let besides = databases.flatMap { path in suffixes.map { ("a file of the database", path + $0) } }
        let settings = transport.files + sources.all.map { ($0.setting("CA_FILE"), $0.provider.certificates) }
        let named = settings.compactMap { setting, path in path.map { ("the file of \(setting)", $0) } }
        return databases.map { ("the database", $0) } + besides + named
    }
}
