/// Runs a body and translates its error: for a layer that has an error type of its own.
///
/// - Parameters:
///   - translate: the error that the caller gets for one of the body.
///   - body: its error type is inferred where it is written: `{ () throws(SystemError) in … }`.
/// - Returns: what the body returns.
/// - Throws: the translated error.
package func rethrowing<Value: ~Copyable, Inner: Error, Outer: Error>(
    as translate: (Inner) -> Outer, _ body: () throws(Inner) -> Value
) throws(Outer) -> Value {
    do { return try body() } catch { throw translate(error) }
}
