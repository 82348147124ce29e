private import CSQLite

/// A compiled statement: bind, step, read, reset.
///
/// Parameters count from 1 and columns from 0, as in SQLite. A wrong number of bound values is a mistake in the
/// program, and ends it.
@safe
package struct SQLiteStatement: ~Copyable {
    fileprivate let handle: OpaquePointer

    init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Binds all parameters in their order; the values are copied.
    package func bind<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        var index: Int32 = 1
        for value in repeat each values {
            try value.bind(to: self, at: index)
            index += 1
        }
        precondition(unsafe index == sqlite3_bind_parameter_count(handle) + 1, "every parameter needs a value")
    }

    /// Goes to the next row; returns false after the last row, when the statement is complete.
    package func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure(code)
        }
    }

    /// Runs a statement without reading its rows, and resets it.
    package func run<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        defer { reset() }
        try bind(repeat each values)
        while try step() {}
    }

    /// Ends the run, releases its locks, and clears the values.
    ///
    /// An error of the run is not reported again, because the last step has thrown it.
    package func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// Returns the integer in a column of the current row.
    package func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    /// Returns the number in a column of the current row.
    package func real(_ column: Int32) -> Double {
        unsafe sqlite3_column_double(handle, column)
    }

    /// Returns the text in a column of the current row, with its length: U+0000 does not end it.
    package func text(_ column: Int32) -> String {
        // The pointer comes first: asking for the length may convert the value and move it.
        guard let bytes = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Returns whether a column of the current row is NULL.
    package func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    fileprivate func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        unsafe SQLiteError(of: sqlite3_db_handle(handle), code: code)
    }
}

/// A value that a parameter of a statement can take.
package protocol Bindable {
    /// Binds the value to the parameter of this index; a parameter that is not bound is NULL.
    func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError)
}

extension Int64: Bindable {
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        try statement.check(unsafe sqlite3_bind_int64(statement.handle, index, self))
    }
}

extension Double: Bindable {
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        try statement.check(unsafe sqlite3_bind_double(statement.handle, index, self))
    }
}

extension Bool: Bindable {
    /// Binds 1 or 0, as SQLite has no truth values.
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        try Int64(self ? 1 : 0).bind(to: statement, at: index)
    }
}

extension String: Bindable {
    /// Binds a copy of the UTF-8 bytes with their length.
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        var text = self
        let handle = unsafe statement.handle
        let code = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty buffer may have no address, which SQLite takes for NULL.
                unsafe characters.baseAddress.map { start in
                    unsafe csqlite_bind_text_copying(handle, index, start, Int32(characters.count))
                } ?? csqlite_bind_text_copying(handle, index, "", 0)
            }
        }
        try statement.check(code)
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    /// Binds the value, or NULL.
    package func bind(to statement: borrowing SQLiteStatement, at index: Int32) throws(SQLiteError) {
        guard let self else { return try statement.check(unsafe sqlite3_bind_null(statement.handle, index)) }
        try self.bind(to: statement, at: index)
    }
}
