import HTTP
import Platform

/// What the tenants of an authority are made with.
struct TenantParts: Sendable {
    let time: any TimeSource
    let generator: KeyGenerator
    let onSignature: @Sendable () -> Void
    let runNames = TestRunNames()

    func keys(_ naming: KeyNaming, _ kept: TenantState) -> KeyRing {
        KeyRing(
            kept.saved.keys, generator: generator, naming: naming, now: { [time] in time.wallMilliseconds / 1000 },
            changed: kept.saveKeys)
    }
}
