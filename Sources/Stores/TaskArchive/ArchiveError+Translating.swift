import Tasks
import PostgreSQL
import SQLite

extension ArchiveError {
    static func opening<Outcome: ~Copyable>(
        _ body: () throws(StoreOpenError) -> Outcome
    ) throws(ArchiveError) -> Outcome {
        do throws(StoreOpenError) { return try body() } catch { throw .database(error) }
    }

    static func sqlite<Outcome: ~Copyable>(
        _ body: () throws(SQLiteError) -> Outcome
    ) throws(ArchiveError) -> Outcome {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw error.kind == .full ? .full : .failed(reason: error.description)
        }
    }

    static func postgresql<Outcome: ~Copyable>(
        _ body: () throws(PostgreSQLError) -> Outcome
    ) throws(ArchiveError) -> Outcome {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw error.kind == .full ? .full : .failed(reason: error.description)
        }
    }
}
