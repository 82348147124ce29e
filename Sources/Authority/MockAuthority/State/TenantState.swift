import Basics

/// The saved state of a tenant, and the functions that save it.
struct TenantState: Sendable {
    var saved = SavedState()
    var saveKeys: @Sendable (KeyRing.State) -> Void = { _ in }
    var saveUsers: @Sendable ([User]) -> Void = { _ in }

    /// Nothing is kept.
    init() {}

    /// Keeps it in a folder, in files whose names begin with this text.
    init(in folder: StateFolder, _ prefix: String?) throws(OperatorError) {
        let folder = folder.part(prefix ?? "")
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
