import PostgreSQLStore
import Testing

@Suite("A connection string of PostgreSQL")
struct ConnectionStringTests {
    /// Everything after an unescaped character of the password is something else to libpq, which quotes it.
    @Test(arguments: [
        "postgresql://u:12/s?hunter2=ret@h/db", "postgresql://u:12/s?hunter2@h/db", "password=my hunter2=y",
        "password=my hunter2", "password='my hunter2", "postgresql://u:12/s?sslmode=hunter2@h/db",
        "postgresql://u:12/s?connect_timeout=hunter2@h/db", "postgresql://u:12/s?sslrootcert=hunter2@h/db",
        "postgresql://u:12/s?a=%00hunter2@h/db", "postgresql://u:12/s?\nhunter2=1@h/db",
    ])
    func `A misread connection string is refused without a part of its password`(string: String) throws {
        let message = try #require(PostgreSQLDatabase.mistake(in: string))
        #expect(!message.contains("hunter2"), "\(message)")
        #expect(!message.contains("ret@"), "\(message)")
    }

    @Test func `The message says which names there are, and how to write a password`() throws {
        let parameter = try #require(PostgreSQLDatabase.mistake(in: "postgresql://u:p@h/db?sslmod=require"))
        #expect(parameter.contains("invalid URI query parameter; known are host, "), "\(parameter)")
        #expect(parameter.contains("sslmode, "), "\(parameter)")
        #expect(parameter.contains("write %40 for @"), "\(parameter)")
        let option = try #require(PostgreSQLDatabase.mistake(in: "host=h sslmod=require"))
        #expect(option.contains("invalid connection option; known are host, "), "\(option)")
        #expect(option.contains("put '...' around a password with spaces"), "\(option)")
    }

    @Test(arguments: [
        "postgresql://u%40tenant:p%40ss@h/db?sslrootcert=/run/credentials/tasks@1/ca.pem&application_name=a@b",
        "host=@socket user=u@tenant password=p@ss dbname=db",
    ])
    func `An @ is taken where it is no mistake`(string: String) {
        #expect(PostgreSQLDatabase.mistake(in: string) == nil)
    }
}
