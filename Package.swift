// swift-tools-version: 6.2

import PackageDescription

// The folder tree is the architecture; the dependency lists below are its import rules, and the build checks them
// (`--explicit-target-dependency-import-check error`). ARCHITECTURE.md says why each arrow is allowed.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let sourceSettings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .strictMemorySafety(),
    ]

/// Without regular expressions, which the server does not use: 2 MB of the program.
let lean: SwiftSetting = .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])

func door(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func library(_ name: String, in folder: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)",
        swiftSettings: sourceSettings + (folder == "Authority" ? [] : [lean]))
}

/// Releases are linked by lld with relocations in their compact form (glibc 2.36).
///
/// Debian's gold writes a table that is read in whole at every start: 0.8 MB more memory, and 56 ms to the first answer
/// instead of 14. Swift's metadata is found by the bounds of its sections, so those must not be collected.
let compact: LinkerSetting = .unsafeFlags(
    [
        "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "-z", "-Xlinker",
        "nostart-stop-gc",
    ],
    .when(configuration: .release))

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)",
        swiftSettings: sourceSettings + (name == "TaskServer" ? [lean] : []),
        linkerSettings: [compact])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, swiftSettings: strict)
}

/// Tests/FuzzTests: a test that runs every input of its corpora once.
///
/// With `FUZZ` in the environment (`make fuzz`) the same folder is a program instead, which libFuzzer drives.
let fuzzed: [Target.Dependency] = [
    "HTTP", "Tokens", "Tasks", "Settings", "TaskStores", "IssuerKeys", "TaskAPI", "MockAuthority", "OpenSSL", "Curl",
    "Platform", "JSON", "Support",
]
let fuzzing: [Target] =
    Context.environment["FUZZ"] == nil
    ? [tests("FuzzTests", fuzzed, exclude: ["Driver", "Corpus", "Dictionaries", "README.md"])]
    : [
        .executableTarget(
            name: "Fuzz", dependencies: fuzzed, path: "Tests/FuzzTests",
            exclude: ["CorpusTests.swift", "Corpus", "Dictionaries", "README.md"], swiftSettings: strict)
    ]

let package = Package(
    name: "task-server",
    products: [
        .executable(name: "task-server", targets: ["TaskServer"]),
        .executable(name: "mock-authority", targets: ["MockAuthorityServer"]),
    ],
    targets: [
        // C doors: one importer each, the wrapper of its name.
        door("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
        door("COpenSSL", "openssl", "libssl-dev"),
        door("CSQLite", "sqlite3", "libsqlite3-dev"),
        door("CPostgreSQL", "libpq", "libpq-dev"),
        door("CCurl", "libcurl", "libcurl4-openssl-dev"),
        door("CJansson", "jansson", "libjansson-dev"),

        // Libraries: a C library each, safe outside, strangers to the application.
        library("Platform", in: "Libraries"),
        library("JSON", in: "Libraries", ["CJansson"]),
        library("OpenSSL", in: "Libraries", ["COpenSSL"]),
        library("SQLite", in: "Libraries", ["CSQLite"]),
        library("PostgreSQL", in: "Libraries", ["CPostgreSQL"]),
        library("Curl", in: "Libraries", ["CCurl"]),
        library("MicroHTTPD", in: "Libraries", ["CMicroHTTPD", "HTTP", "Platform"]),

        // Core: values. No C, no clock, no files.
        library("HTTP", in: "Core", ["JSON"]),
        library("Tokens", in: "Core", ["JSON"]),
        library("Tasks", in: "Core", ["JSON"]),
        library("Settings", in: "Core", ["JSON"]),

        // Server: the application. The three are strangers to each other.
        library("TaskStores", in: "Server", ["Tasks", "SQLite", "PostgreSQL", "Platform", "JSON"]),
        library("IssuerKeys", in: "Server", ["Tokens", "OpenSSL", "Curl", "JSON", "Platform"]),
        library("TaskAPI", in: "Server", ["HTTP", "Tasks", "Tokens", "JSON", "Platform"]),

        // Authority: the OpenID provider of tests and local work. Never linked into task-server.
        library("MockAuthority", in: "Authority", ["HTTP", "Tokens", "OpenSSL", "JSON", "Platform"]),

        // Programs: the only place that wires.
        program(
            "TaskServer",
            [
                "HTTP", "Tokens", "Tasks", "Settings", "TaskStores", "IssuerKeys", "TaskAPI", "MicroHTTPD", "Curl",
                "JSON", "Platform", "OpenSSL",
            ]),
        program("MockAuthorityServer", ["MockAuthority", "MicroHTTPD", "HTTP", "Settings", "JSON", "Platform"]),

        // Tests
        .target(
            name: "Support", dependencies: ["HTTP", "Tokens", "Tasks", "JSON", "Platform", "OpenSSL"],
            path: "Tests/Support", swiftSettings: strict),
        tests("PlatformTests", ["Platform", "Support"]),
        tests("JSONTests", ["JSON", "Support"]),
        tests("OpenSSLTests", ["OpenSSL", "JSON", "Platform", "Support"], exclude: ["Vectors"]),
        tests("SQLiteTests", ["SQLite", "Support"]),
        tests("CurlTests", ["Curl", "MicroHTTPD", "HTTP", "Support"]),
        tests("HTTPTests", ["HTTP", "JSON", "Support"]),
        tests("TokensTests", ["Tokens", "JSON", "OpenSSL", "Support"]),
        tests("TasksTests", ["Tasks", "JSON", "Support"]),
        tests("SettingsTests", ["Settings", "JSON", "Support"]),
        tests(
            "TaskStoresTests", ["TaskStores", "Tasks", "SQLite", "PostgreSQL", "Platform", "JSON", "Support"],
            exclude: ["PostgreSQL/large-records.py"]),
        tests(
            "IssuerKeysTests",
            [
                "IssuerKeys", "TaskAPI", "TaskStores", "Tokens", "OpenSSL", "Curl", "MicroHTTPD", "HTTP", "JSON",
                "Platform", "Support",
            ]),
        tests(
            "TaskAPITests",
            ["TaskAPI", "TaskStores", "MicroHTTPD", "HTTP", "Tasks", "Tokens", "JSON", "Platform", "Support"]),
        tests(
            "MockAuthorityTests",
            ["MockAuthority", "Tokens", "OpenSSL", "MicroHTTPD", "HTTP", "JSON", "Platform", "Support"]),
        tests("WireTests", ["MicroHTTPD", "HTTP", "JSON", "Platform", "Support"]),
        tests(
            "ProcessTests",
            ["TaskServer", "MockAuthorityServer", "HTTP", "JSON", "Platform", "Support", "TaskAPI", "Tasks"],
            exclude: ["tls-exchange.py"]),
    ] + fuzzing
)
