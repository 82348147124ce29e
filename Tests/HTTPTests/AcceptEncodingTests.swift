import HTTP
import Support
import Testing

@Suite("Accept-Encoding (RFC 9110 section 12.5.3)")
struct AcceptEncodingTests {
    @Test(arguments: [
        ([], false), ([""], false), ([","], false), (["gzip"], true), (["GZip"], true), (["x-gzip"], true),
        (["deflate, gzip;q=1.0, *;q=0.5"], true), (["gzip, deflate, br, zstd"], true), (["gzip;q=0.001"], true),
        (["deflate"], false), (["br"], false), (["gzipped"], false), (["gzi"], false), (["identity"], false),
        (["gzip;q=0"], false), (["gzip;q=0.000, *"], false), (["*"], true), (["*;q=0"], false),
        (["*;q=0, gzip"], true), (["br, *;q=0.1"], true), (["x-gzip;q=0, *"], false),
        (["identity;q=0"], false), (["identity;q=0, *"], true), (["identity;q=0, gzip;q=0.2"], true),
        (["gzip;q=0.5, identity"], false), (["gzip;q=0.5, identity;q=0.5"], true),
        (["identity;q=0.5, gzip;q=0.4"], false), (["Identity;q=0.4,GZIP;Q=0.5"], true),
        ([" gzip\t; q=0 "], false), (["\t gzip ;\tq=0.3"], true), (["deflate,,gzip"], true),
        (["deflate", "gzip"], true), (["gzip;q=0", "gzip"], false), (["gzip;q=x"], true), (["gzip;x=0"], true),
        (["br;q=0, deflate;q=0"], false), (["gzip;q=0;q=1"], false), (["gzip;;q=0"], false),
    ])
    func `gzip is for clients that ask for it`(fields: [String], prefersGzip: Bool) {
        let headers = HeaderSection(fields.map { HeaderSection.Field(name: "accept-encoding", value: $0) })
        #expect(headers.preferGzip == prefersGzip)
    }
}
