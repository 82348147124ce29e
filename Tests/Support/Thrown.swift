/// Returns the error that a body throws; nil if the body throws none.
package func thrown<Failure: Error>(_ body: () throws(Failure) -> Void) -> Failure? {
    do throws(Failure) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// Returns the error that an asynchronous body throws; nil if the body throws none.
package func thrown<Failure: Error>(_ body: () async throws(Failure) -> Void) async -> Failure? {
    do throws(Failure) {
        try await body()
        return nil
    } catch {
        return error
    }
}
