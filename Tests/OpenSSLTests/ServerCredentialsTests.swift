import OpenSSL
import Platform
import Support
import Testing

/// Files that `openssl` made, as an operator has them.
private struct MadeFiles {
    private static let script = """
        set -e
        openssl ecparam -name prime256v1 -genkey -out ec.key 2>&1
        openssl pkcs8 -topk8 -nocrypt -in ec.key -out ec8.key
        openssl genrsa -traditional -out rsa.key 2048
        openssl pkcs8 -topk8 -nocrypt -in rsa.key -out rsa8.key
        openssl genpkey -algorithm ed25519 -out ed.key
        openssl ecparam -name secp384r1 -genkey -noout -out p384.key
        openssl ecparam -name secp521r1 -genkey -noout -out p521.key
        openssl rsa -traditional -aes128 -passout pass:x -in rsa.key -out locked.key
        openssl pkcs8 -topk8 -v2 aes256 -passout pass:x -in ec.key -out locked8.key
        openssl genrsa -out short.key 1024
        make() { openssl req -x509 -subj /CN=test -days 30 -key $1.key -out $2.pem "${@:3}"; }
        san=subjectAltName=DNS:tasks.example,DNS:www.tasks.example,IP:192.0.2.7,IP:2001:db8::7
        for each in ec rsa ed p384 p521 short; do make $each $each -addext $san; done
        make ec nameless
        make ec odd -addext "subjectAltName=DNS:two words"
        make ec client -addext $san -addext extendedKeyUsage=clientAuth
        make ec sha1 -addext $san -sha1
        make rsa ca -addext basicConstraints=critical,CA:TRUE -addext keyUsage=keyCertSign
        openssl req -new -key ec.key -subj /CN=leaf -out leaf.csr
        echo $san > extensions
        openssl x509 -req -in leaf.csr -CA ca.pem -CAkey rsa.key -set_serial 7 -days 30 -extfile extensions -out leaf.pem
        cat leaf.pem ca.pem > chain.pem
        cat ca.pem leaf.pem > reversed.pem
        cat leaf.pem short.pem > unrelated.pem
        cat ec8.key leaf.pem ca.pem > all.pem
        (echo "a note"; openssl x509 -text -in leaf.pem; cat ca.pem) > noted.pem
        head -c 300 leaf.pem > cut.pem
        sed 's/^MII/M*I/' leaf.pem > damaged.pem
        (cat leaf.pem; sed 's/^MII/M*I/' ca.pem) > half-damaged.pem
        (for each in 1 2 3 4 5 6; do cat leaf.pem ca.pem ec.pem; done) > many.pem
        openssl x509 -in leaf.pem -outform DER -out der.pem
        : > empty.pem
        """
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try ChildProcess.run(script: "cd \(folder.path)\n\(Self.script)")
    }

    func read(_ certificates: String, _ key: String) throws -> ServerCredentials {
        try ServerCredentials(certificates: text(certificates), key: text(key))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try File.read(folder.file(name)), as: UTF8.self)
    }
}

@Suite("The certificate and key files of a TLS server are checked")
struct ServerCredentialsTests {
    private let files: MadeFiles

    init() throws { files = try MadeFiles() }

    @Test func `Every form of a key is read, and of the certificate, alone or in one file`() throws {
        let pairs = [
            ("rsa.pem", "rsa.key", 112), ("rsa.pem", "rsa8.key", 112), ("ec.pem", "ec.key", 128),
            ("ec.pem", "ec8.key", 128), ("ed.pem", "ed.key", 128), ("chain.pem", "ec.key", 128),
            ("all.pem", "all.pem", 128), ("noted.pem", "ec.key", 128),
        ]
        for (certificate, key, strength) in pairs {
            let credentials = try files.read(certificate, key)
            let own = credentials.own
            #expect(own.names == ["tasks.example", "www.tasks.example", "192.0.2.7", "2001:db8::7"], "\(certificate)")
            #expect(own.keyStrength == strength && own.notAfter - own.notBefore == 30 * 86_400, "\(certificate)")
            let flaws: [CertificateFlaw] = certificate == "ed.pem" ? [.unusualKey] : []
            #expect(credentials.flaws(at: own.notBefore + 1) == flaws, "\(certificate)")
            #expect(credentials.keyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            let again = try ServerCredentials(certificates: credentials.certificatesPEM, key: credentials.keyPEM)
            #expect(again == credentials)
        }
    }

    @Test func `Errors name what makes TLS impossible`() {
        let pairs: [(String, String, ServerCredentialsError)] = [
            ("ec.pem", "rsa.key", .keyDoesNotMatch), ("chain.pem", "short.key", .keyDoesNotMatch),
            ("reversed.pem", "ec.key", .keyOfAnother(position: 2)),
            ("chain.pem", "rsa.key", .keyOfAnother(position: 2)),
            ("rsa.pem", "locked.key", .encryptedKey), ("ec.pem", "locked8.key", .encryptedKey),
            ("ec.pem", "ec.pem", .unreadableKey), ("ec.pem", "empty.pem", .unreadableKey),
            ("ec.key", "ec.key", .noCertificate), ("empty.pem", "ec.key", .noCertificate),
            ("der.pem", "ec.key", .noCertificate), ("cut.pem", "ec.key", .unreadableCertificate(position: 1)),
            ("damaged.pem", "ec.key", .unreadableCertificate(position: 1)),
            ("half-damaged.pem", "ec.key", .unreadableCertificate(position: 2)),
            ("many.pem", "ec.key", .tooManyCertificates),
        ]
        for (certificate, key, error) in pairs {
            #expect(throws: error, "\(certificate) \(key)") { try files.read(certificate, key) }
        }
    }

    @Test func `Flaws name what clients refuse`() throws {
        let pairs: [(String, String, [CertificateFlaw])] = [
            ("nameless.pem", "ec.key", [.noNames]), ("odd.pem", "ec.key", [.noNames]),
            ("client.pem", "ec.key", [.notForServers]), ("short.pem", "short.key", [.weakKey(position: 1)]),
            ("sha1.pem", "ec.key", [.weakSignature(position: 1)]), ("p384.pem", "p384.key", []),
            ("p521.pem", "p521.key", [.unusualKey]),
            ("unrelated.pem", "ec.key", [.outOfOrder(position: 2), .weakKey(position: 2)]),
        ]
        for (certificate, key, flaws) in pairs {
            let credentials = try files.read(certificate, key)
            #expect(credentials.flaws(at: credentials.own.notBefore + 60) == flaws, "\(certificate)")
        }
    }

    @Test func `Each certificate of the chain is checked against the clock`() throws {
        let credentials = try files.read("chain.pem", "ec.key")
        let (leaf, issuer) = (credentials.certificates[0], credentials.certificates[1])
        let late = max(leaf.notAfter, issuer.notAfter) + 1
        #expect(
            credentials.flaws(at: late) == [
                .expired(position: 1, at: leaf.notAfter), .expired(position: 2, at: issuer.notAfter),
            ])
        let early = min(leaf.notBefore, issuer.notBefore) - 1
        #expect(
            credentials.flaws(at: early) == [
                .notYetValid(position: 1, from: leaf.notBefore), .notYetValid(position: 2, from: issuer.notBefore),
            ])
    }
}
