import Basics
import OpenSSL
import Tasks

extension CertificateFlaw {
    /// What is wrong, and what to do.
    var message: String {
        switch self {
        case .expired(let position, let moment):
            "\(Self.certificate(position)) expired on \(moment.asDate): clients refuse it. Get a new one, and reload the server"
        case .notYetValid(let position, let moment):
            "\(Self.certificate(position)) is valid from \(moment.asDate) only: clients refuse it until then. See that the "
                + "clock of this machine is right"
        case .outOfOrder(let position):
            "certificate \(position) of TASKS_TLS_CERT did not issue the one before it: strict clients refuse the chain. "
                + "Put the server's own first, then that of its issuer, and so on, without the root"
        case .noNames:
            "the certificate names no host (subjectAltName): clients refuse it. Get one for the server's public name"
        case .notForServers:
            "the certificate is not for TLS servers (its key usage): clients refuse it. Get one with the purpose serverAuth"
        case .weakKey(let position):
            "\(Self.certificate(position)) has a key that is too short: clients refuse it. Get one with RSA of 2048 bits or more, "
                + "or with EC P-256"
        case .unusualKey:
            "the certificate has a key that is neither RSA nor EC P-256 nor EC P-384: no client can connect. Get one with EC P-256"
        case .weakSignature(let position):
            "\(Self.certificate(position)) is signed with MD5 or SHA-1: clients refuse it. Get one that is signed with SHA-256"
        }
    }

    private static func certificate(_ position: Int) -> String {
        position == 1 ? "the certificate" : "certificate \(position) of TASKS_TLS_CERT"
    }
}

extension ServerCredentials {
    /// The moment after which the first of its certificates is no longer valid, since 1970.
    var end: Int64 { certificates.map(\.notAfter).min() ?? 0 }

    /// The whole days until the end; negative after the end.
    func daysLeft(at now: Int64) -> Int64 { (end - now).quotientAndRemainder(flooredBy: 86_400).quotient }

    /// The operator is warned when fewer days are left.
    static let fewDays: Int64 = 14
}

extension Int64 {
    /// These seconds since 1970 as `2026-11-22T08:00:00.000Z`.
    var asDate: String { Timestamp(milliseconds: self * 1000).text }
}
