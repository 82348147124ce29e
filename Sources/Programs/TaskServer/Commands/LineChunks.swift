import Platform

/// Lines on their way to a file, which gets them in pieces of 64 KiB.
struct LineChunks: ~Copyable {
    private var waiting: [UInt8] = []

    /// Adds a line without its end.
    mutating func append(
        _ line: [UInt8], _ write: ([UInt8]) throws(SystemError) -> Void
    ) throws(SystemError) {
        waiting += line
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count > 1 << 16 { try flush(write) }
    }

    /// Writes what waits.
    mutating func flush(_ write: ([UInt8]) throws(SystemError) -> Void) throws(SystemError) {
        try write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
}
