import Platform

/// Decompresses a body with GNU gzip, which is no part of the server, and throws if the body is damaged.
package func decompressed(_ bytes: [UInt8]) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let path = folder.file("body")
    try File.replace("\(path).gz", with: bytes)
    try ChildProcess.run("/bin/gzip", ["--decompress", "\(path).gz"])
    return try File.read(path, limit: 64 << 20)
}
