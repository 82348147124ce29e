private import CPostgreSQL

/// The result rows of a statement, in binary form; columns and rows count from 0.
@safe
package struct Rows: ~Copyable {
    private let handle: OpaquePointer

    init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe PQclear(handle)
    }

    package var count: Int { unsafe Int(PQntuples(handle)) }

    /// The command tag by which the server names its work, such as `COMMIT` or `INSERT 0 1`.
    package var command: String { unsafe PQcmdStatus(handle).map { unsafe String(cString: $0) } ?? "" }

    /// Returns whether the value is NULL.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe PQgetisnull(handle, Int32(row), Int32(column)) != 0
    }

    /// Returns an integer of any width; 0 for NULL.
    package func integer(_ row: Int, _ column: Int) -> Int64 {
        let bytes = unsafe bytes(row, column)
        let sign: Int64 = unsafe (bytes.first ?? 0) & 0x80 == 0 ? 0 : -1
        return unsafe bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }

    /// Returns a number of double precision; 0 for NULL.
    package func real(_ row: Int, _ column: Int) -> Double {
        Double(bitPattern: UInt64(bitPattern: integer(row, column)))
    }

    /// Returns a truth value; false for NULL.
    package func boolean(_ row: Int, _ column: Int) -> Bool {
        unsafe bytes(row, column).first == 1
    }

    /// Returns a text; an empty text for NULL.
    package func text(_ row: Int, _ column: Int) -> String {
        unsafe String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// Returns the bytes of a value, which live as long as the rows.
    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let length = unsafe PQgetlength(handle, Int32(row), Int32(column))
        return unsafe UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), Int32(column)), count: Int(length))
    }
}
