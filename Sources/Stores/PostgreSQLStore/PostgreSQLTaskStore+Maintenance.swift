package import Basics
import PostgreSQL

extension PostgreSQLTaskStore {
    /// Checks whether a server could work with the database, and changes nothing; returns the result in a line.
    package static func check(_ connectionString: String) throws(OperatorError) -> String {
        let database = try PostgreSQLDatabase(connectionString)
        let connection = try database.connect()
        guard let version = try database.checkedVersion(on: connection) else {
            try database.refuseMissingRightToMakeTables(on: connection)
            return "\(database.name) can be reached; tables will be created at the first start"
        }
        let age = version < PostgreSQLSchema.known ? "; tables will be brought up to date at the next start" : ""
        return "\(database.name) can be read and written\(age)"
    }

    /// Makes the tables, divided into this many partitions if a number is given, or brings them up to date; returns in a
    /// line what was done.
    package static func migrate(_ connectionString: String, partitions: Int?) throws(OperatorError) -> String {
        let database = try PostgreSQLDatabase(connectionString)
        let (version, found) = try database.prepare(partitions: partitions)
        if let partitions, found.count != partitions {
            let found = found.count.map { "\($0) partitions" } ?? "no partitions"
            throw OperatorError(
                "the tables in \(database.name) have \(found), and stay so",
                advice: "to divide them into \(partitions), export, migrate an empty database, and import")
        }
        let division = found.count.map { " in \($0) partitions" } ?? ""
        return switch version {
        case nil: "the tables in \(database.name) are up to date\(division)"
        case 0: "the tables in \(database.name) are made\(division)"
        case .some(let version):
            "the tables in \(database.name) are brought from version \(version) to \(PostgreSQLSchema.known)\(division)"
        }
    }
}
