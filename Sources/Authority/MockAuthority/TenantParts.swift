import HTTP
import Platform

/// The clock, the source of keys and the names of test runs that all tenants of an authority share.
struct TenantParts: Sendable {
    let time: any TimeSource
    let generator: KeyGenerator
    let runNames = TestRunNames()

    func keys(_ naming: KeyNaming, _ kept: TenantState) -> KeyRing {
        KeyRing(
            kept.saved.keys, generator: generator, naming: naming, now: { [time] in time.wallMilliseconds / 1000 },
            changed: kept.saveKeys)
    }
}
