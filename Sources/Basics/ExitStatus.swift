/// The ways in which a program ends: 0, 1, 2, the codes of sysexits.h, or 128 and the number of a signal.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// Something is wrong outside of the settings: a database, a port, an authority.
    case failure = 1
    /// mock-authority probe could not find out what an API accepts.
    case unknown = 2
    /// EX_UNAVAILABLE: mock-authority cannot listen on its address, or its command token finds no authority.
    case unavailable = 69
    /// EX_CONFIG: the settings, the command line or the files that they name are wrong.
    case badSettings = 78
    case hungUp = 129
    case interrupted = 130
    case terminated = 143
}
