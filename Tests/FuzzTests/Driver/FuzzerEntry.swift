import Glibc

/// What `FUZZ_TARGET` in the environment names.
///
/// No argument of the command line: libFuzzer starts itself again (`-merge=1`) and hands on only what it understands.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        print("fuzz: FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    return target
}()

/// Runs one input; a broken invariant ends the process, as a trap does, and libFuzzer, whose main calls this, keeps the
/// input.
@_cdecl("LLVMFuzzerTestOneInput")
package func checkOne(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: bytes, count: size)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}
