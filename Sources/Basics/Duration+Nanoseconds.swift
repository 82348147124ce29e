extension Duration {
    /// The whole nanoseconds, as the monotonic clock counts them: 0 for a negative duration, and at most thirty years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
