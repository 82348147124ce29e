import Platform

/// A library that is put before the system's own in a program of a test, made of one C file.
package enum PreloadedLibrary {
    /// Compiles a file of `scripts/` into a folder; the path of the library.
    package static func compile(_ name: String, into folder: String) throws -> String {
        let library = "\(folder)/\(name).so"
        let source = TestFile("../../scripts/\(name).c").path
        // The compiler beside Swift is always there.
        let script = """
            set -e
            compiler=$(dirname "$(readlink -f "$(command -v swift)")")/clang
            [ -x "$compiler" ] || compiler=cc
            "$compiler" -O1 -shared -fPIC -o \(library) \(source) -ldl
            """
        try ChildProcess.run(script: script)
        return library
    }

    /// The value of `LD_PRELOAD` for this library and what the tests themselves run with.
    package static func environment(_ library: String) -> [String: String] {
        let inherited = ProcessFacts.environment["LD_PRELOAD"]
        return ["LD_PRELOAD": [inherited, library].compactMap(\.self).joined(separator: ":")]
    }
}
