import Basics

/// What was kept of a tenant, and where it is kept.
struct TenantState: Sendable {
    var saved = SavedState()
    var saveKeys: @Sendable (KeyRing.State) -> Void = { _ in }
    var saveUsers: @Sendable ([User]) -> Void = { _ in }

    /// Nothing is kept.
    init() {}

    /// Keeps it in a folder, or in a folder of this name in it.
    init(in folder: StateFolder, _ name: String?) throws(StateFolderError) {
        let folder = try name.map { name throws(StateFolderError) in try StateFolder(folder.file(name)) } ?? folder
        saved = try SavedState(folder)
        saveKeys = { folder.save($0) }
        saveUsers = { folder.save($0) }
    }

    /// The accounts that were kept, then those of the configuration that are new.
    func directory(of configuration: Configuration) -> Directory {
        let kept = saved.users ?? []
        let more = configuration.users.filter { user in !kept.contains { $0.objectID == user.objectID } }
        return Directory(kept + more, changed: saveUsers)
    }
}
