private import CZlib

/// The gzip format (RFC 1952).
package enum Gzip {
    /// The trade of time against size, as zlib numbers it.
    package enum Effort: Int32, Sendable {
        /// 260 MB/s, for bytes that are compressed often.
        case fast = 1
        /// 33 MB/s and a tenth smaller, for bytes that are compressed once.
        case thorough = 9
    }

    /// Compresses the bytes; nil if the result is longer than `limit`, or if memory ran out.
    package static func compress(_ bytes: [UInt8], _ effort: Effort, limit: Int) -> [UInt8]? {
        guard let count = UInt32(exactly: bytes.count), let capacity = UInt32(exactly: limit), capacity > 0 else {
            return nil
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit) { output in
            let size = unsafe bytes.withUnsafeBufferPointer { input in
                unsafe czlib_gzip(
                    input.baseAddress, count, output.baseAddress, capacity, effort.rawValue, windowBits(bytes.count))
            }
            return size > 0 ? unsafe Array(output.prefix(Int(size))) : nil
        }
    }

    /// Returns the logarithm of the window, which fits the input: zlib allocates and clears eight times the window.
    private static func windowBits(_ count: Int) -> Int32 {
        Int32(min(max(Int.bitWidth - count.leadingZeroBitCount, 10), 15))
    }
}
