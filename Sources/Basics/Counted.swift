extension BinaryInteger {
    /// Returns the number with its noun: `1 task`, `2 tasks`; `many` is a plural that is not formed with an s.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        self == 1 ? "1 \(one)" : "\(self) \(many ?? one + "s")"
    }
}
