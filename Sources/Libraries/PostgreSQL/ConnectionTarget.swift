private import CPostgreSQL

/// A connection string of libpq, read once: the place of a database and the way to it.
///
/// Both forms are taken, `postgresql://user@host1,host2/name?sslmode=verify-full` and `host=... dbname=...`
/// (<https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING>). Keywords that are not given come from
/// libpq's environment variables and defaults, except for those in ``defaults``.
package struct ConnectionTarget: Sendable {
    private let keywords: [(name: String, value: String)]

    /// All keywords in one text, with quotes around each value.
    var connectionString: String {
        keywords.filter { !$0.value.isEmpty }.map { "\($0.name)='\(Self.escaped($0.value))'" }.joined(separator: " ")
    }

    private static func escaped(_ value: String) -> String {
        let special = [UInt8(ascii: "'"), UInt8(ascii: "\\")]
        let bytes = value.utf8.flatMap { special.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Our own defaults in place of libpq's: the primary among several hosts, and an end of every wait.
    ///
    /// The default is not `read-write`, because a primary that is set to read only can still be read.
    private static let defaults = [
        ("target_session_attrs", "primary"), ("connect_timeout", "5"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
    ]

    /// Values that this program relies on.
    private static let fixed = [("client_encoding", "UTF8"), ("fallback_application_name", "task-server")]

    package init(parsing string: String) throws(PostgreSQLError) {
        var given: [(name: String, value: String)] = []
        var message: UnsafeMutablePointer<CChar>? = nil
        guard let options = unsafe PQconninfoParse(string, &message) else {
            let text = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            unsafe PQfreemem(message)
            throw PostgreSQLError(sqlState: nil, message: Self.withoutQuotes(text))
        }
        defer { unsafe PQconninfoFree(options) }
        var option = unsafe options
        while let name = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe given.append((String(cString: name), String(cString: value)))
            }
            unsafe option += 1
        }
        let missing = Self.defaults.filter { name, _ in !given.contains { $0.name == name } }
        try Self.refuseMisread(given)
        keywords =
            given.filter { keyword in !Self.fixed.contains { $0.0 == keyword.name } }
            + (missing + Self.fixed).map { (name: $0.0, value: $0.1) }
    }

    /// Refuses a string in which an unescaped `@`, `/` or `?` splits a password.
    ///
    /// libpq takes the rest of the password for a host, a port, a name or a parameter, which messages would show.
    private static func refuseMisread(_ given: [(name: String, value: String)]) throws(PostgreSQLError) {
        for (name, value) in given {
            let isMisread =
                switch name {
                // A host with an @ at its start is an abstract socket.
                case "host": value.split(separator: ",").contains { $0.utf8.dropFirst().contains(UInt8(ascii: "@")) }
                case "port": !value.utf8.allSatisfy { $0 == UInt8(ascii: ",") || (48...57).contains($0) }
                case "user", "password", "sslpassword", "options", "application_name": false
                // The path of a folder may contain an @.
                default: value.utf8.contains(UInt8(ascii: "@")) && !value.utf8.starts(with: "/".utf8)
                }
            guard isMisread else { continue }
            throw PostgreSQLError(sqlState: nil, message: "no good \(name); \(escapes)")
        }
    }

    private static let escapes = "in a password write %40 for @, %2F for /, %3A for : and %3F for ?"

    /// Returns the message up to the first quotation, which may be a part of the password whatever libpq calls it.
    private static func withoutQuotes(_ text: String) -> String {
        let line = text.prefix { $0 != "\"" && $0 != ":" && $0 != "\n" }
        let plain = line.last == " " ? line.dropLast() : line
        return switch plain {
        case "invalid URI query parameter": "\(plain); known are \(names); \(escapes)"
        case "invalid connection option": "\(plain); known are \(names); put '...' around a password with spaces"
        default: String(plain)
        }
    }

    /// The keywords that are used most, for a message about a mistyped one.
    private static let names =
        "host, port, dbname, user, password, sslmode, sslrootcert, connect_timeout, target_session_attrs and others of libpq"

    /// The hosts, the ports and the database for people, without user or password.
    package var name: String {
        let hosts = (value("host") ?? value("hostaddr"))?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        let ports = value("port")?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        let addresses = hosts.enumerated().map { index, host in
            let port = ports.count > 1 ? ports[min(index, ports.count - 1)] : (ports.first ?? "")
            return port.isEmpty ? "\(host)" : "\(host):\(port)"
        }
        return "postgresql://\(addresses.joined(separator: ","))\(value("dbname").map { "/\($0)" } ?? "")"
    }

    private func value(_ name: String) -> String? {
        keywords.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}
