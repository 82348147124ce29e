/// The error that the body throws; nothing if it throws none.
package func thrown<Failure: Error>(_ body: () throws(Failure) -> Void) -> Failure? {
    do throws(Failure) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// The same of a body that waits.
package func thrown<Failure: Error>(_ body: () async throws(Failure) -> Void) async -> Failure? {
    do throws(Failure) {
        try await body()
        return nil
    } catch {
        return error
    }
}
