/// Runs a body and translates its error, for a layer that has an error type of its own.
///
/// - Parameters:
///   - translate: makes the error that the caller gets of an error of the body.
///   - body: a closure that must name its error type: `{ () throws(SystemError) in … }`.
/// - Returns: the result of the body.
/// - Throws: the translated error.
@inlinable package func rethrowing<Value: ~Copyable, Inner: Error, Outer: Error>(
    as translate: (Inner) -> Outer, _ body: () throws(Inner) -> Value
) throws(Outer) -> Value {
    do { return try body() } catch { throw translate(error) }
}
