import Support
import Tasks

extension Recorded<StoreEvent> {
    /// How often a full disk was reported.
    var diskFull: Int { all.count { if case .diskFull = $0 { true } else { false } } }
}
