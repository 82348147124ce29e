private import CPostgreSQL

/// The rows that a statement gave, in binary form; columns and rows count from 0.
@safe
package struct Rows: ~Copyable {
    private let handle: OpaquePointer

    init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    /// How many rows.
    package var count: Int { unsafe Int(PQntuples(handle)) }

    /// What the server says it did, such as `COMMIT` or `INSERT 0 1`.
    package var command: String { unsafe PQcmdStatus(handle).map { unsafe String(cString: $0) } ?? "" }

    /// Whether there is no value.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(handle, Int32(row), Int32(column)) != 0
    }

    /// An integer of any width; 0 for NULL.
    package func integer(_ row: Int, _ column: Int) -> Int64 {
        let bytes = unsafe bytes(row, column)
        let sign: Int64 = unsafe (bytes.first ?? 0) & 0x80 == 0 ? 0 : -1
        return unsafe bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }

    /// A number of double precision; 0 for NULL.
    package func real(_ row: Int, _ column: Int) -> Double {
        Double(bitPattern: UInt64(bitPattern: integer(row, column)))
    }

    /// Whether there is a text without any byte.
    package func isEmptyText(_ row: Int, _ column: Int) -> Bool {
        unsafe bytes(row, column).isEmpty && !isNull(row, column)
    }

    /// A truth value; false for NULL.
    package func boolean(_ row: Int, _ column: Int) -> Bool {
        unsafe bytes(row, column).first == 1
    }

    /// A text; empty for NULL.
    package func text(_ row: Int, _ column: Int) -> String {
        unsafe String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// The bytes of a value, which live as long as the rows.
    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let length = unsafe PQgetlength(handle, Int32(row), Int32(column))
        return unsafe UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), Int32(column)), count: Int(length))
    }
}
