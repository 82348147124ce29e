/// Makes a call for each element, all at once; returns the results in the order in which they come.
///
/// At most a thousand calls are under way, because one person may not have more calls waiting.
@discardableResult
package func atOnce<Element: Sendable, Value: Sendable>(
    _ elements: some Sequence<Element>, most: Int = 1000, _ call: @escaping @Sendable (Element) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        var values: [Value] = []
        for (number, element) in elements.enumerated() {
            if number >= most, let value = try await group.next() { values.append(value) }
            group.addTask { try await call(element) }
        }
        return try await group.reduce(into: values) { $0.append($1) }
    }
}
