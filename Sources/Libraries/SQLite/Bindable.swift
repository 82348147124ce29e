/// A value that a parameter of a statement can take, or several parameters that follow each other.
package protocol Bindable {
    /// The number of parameters.
    static var parameterCount: Int32 { get }

    /// Binds the value to the parameter of this index, and those after it; a parameter that is not bound is NULL.
    func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError)
}

extension Bindable {
    package static var parameterCount: Int32 { 1 }
}

extension Int64: Bindable {
    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        try statement.bind(self, at: index)
    }
}

extension Double: Bindable {
    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        try statement.bind(self, at: index)
    }
}

extension Bool: Bindable {
    /// Binds 1 or 0, as SQLite has no truth values.
    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        try statement.bind(Int64(self ? 1 : 0), at: index)
    }
}

extension String: Bindable {
    /// Binds the UTF-8 bytes with their length.
    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        try statement.bind(self, at: index)
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    /// Binds the value, or NULL.
    package func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
        guard let self else { return try statement.bindNull(at: index) }
        try self.bind(to: statement, at: index)
    }
}
