import Platform

/// Decompresses a body with GNU gzip, which is no part of the server, and throws if the body is damaged.
package func decompressed(_ bytes: [UInt8]) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let path = folder.file("body")
    try File.replace("\(path).gz", with: bytes)
    let program = try ChildProcess("/bin/gzip", ["--decompress", "\(path).gz"])
    guard try program.wait() == .exit(0) else { throw ChildProcess.Failure(description: program.errors) }
    return try File.read(path, limit: 64 << 20)
}
