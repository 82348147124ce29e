// swift-tools-version: 6.2

import PackageDescription

// The folder tree is the architecture, and `modules` below is its order: a module imports only what is listed before
// it. The build refuses an import that is not declared (`--explicit-target-dependency-import-check error`), and this
// manifest refuses a declaration that points to a later module. ARCHITECTURE.md says what each folder may do.

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

/// A module of Sources: `Sources/<folder>/<name>`, or `Sources/<folder>` if it is alone there.
struct Module {
    let folder: String
    let name: String
    let imports: [String]
    /// Files that become byte arrays of the generated type `PackageResources`.
    let embedded: [String]

    init(_ folder: String, _ name: String, imports: [String] = [], embedded: [String] = []) {
        self.folder = folder
        self.name = name
        self.imports = imports
        self.embedded = embedded
    }

    var target: Target {
        let dependencies = imports.map { Target.Dependency(stringLiteral: $0) }
        let path = folder == name ? "Sources/\(name)" : "Sources/\(folder)/\(name)"
        let usesRegularExpressions = folder == "Authority" || name == "MockAuthorityServer"
        let settings = sourceSettings + (usesRegularExpressions ? [] : [lean])
        let resources = embedded.map { Resource.embedInCode($0) }
        guard folder == "Programs" else {
            return .target(
                name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings)
        }
        return .executableTarget(
            name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings,
            linkerSettings: [compact])
    }
}

let folders = ["Basics", "Libraries", "Core", "Transport", "Stores", "Server", "Authority", "Programs"]

let modules = [
    // Text, dates, encodings, addresses, rate limits: values that every other folder may use.
    Module("Basics", "Basics"),

    // The operating system and C libraries, made safe to use: they know nothing of HTTP or tasks. Each C library has
    // one importer, the module that wraps it.
    Module("Libraries", "Platform", imports: ["Basics"]),
    Module("Libraries", "JSON", imports: ["Basics"]),
    Module("Libraries", "OpenSSL", imports: ["COpenSSL", "Basics"]),
    Module("Libraries", "SQLite", imports: ["CSQLite"]),
    Module("Libraries", "PostgreSQL", imports: ["CPostgreSQL", "OpenSSL", "Platform"]),
    Module("Libraries", "Curl", imports: ["CCurl", "OpenSSL", "Basics"]),
    Module("Libraries", "Zlib", imports: ["CZlib"]),

    // Values and rules: no clock, no files.
    Module("Core", "HTTP", imports: ["Basics", "JSON"]),
    Module("Core", "Tokens", imports: ["Basics", "JSON"]),
    Module("Core", "Tasks", imports: ["Zlib", "Basics", "JSON"]),
    Module("Core", "Settings", imports: ["Basics"]),

    // The only module that sees libmicrohttpd.
    Module("Transport", "HTTPServer", imports: ["CMicroHTTPD", "HTTP", "Platform", "Basics"]),

    // The task stores, the copies of what they hold, and its move to other owners.
    // First the queue and the threads, which both databases use.
    Module("Stores", "StoreEngine", imports: ["Tasks", "Platform", "Basics"]),
    Module("Stores", "SQLiteStore", imports: ["StoreEngine", "Tasks", "SQLite", "Platform", "JSON", "Basics"]),
    Module("Stores", "PostgreSQLStore", imports: ["StoreEngine", "Tasks", "PostgreSQL", "Platform", "JSON", "Basics"]),
    Module(
        "Stores", "TaskArchive",
        imports: ["SQLiteStore", "PostgreSQLStore", "Tasks", "SQLite", "Platform", "JSON", "Basics"]),

    Module("Stores", "OwnerMoves", imports: ["TaskArchive", "Tasks", "JSON", "Platform", "Basics"]),

    // The application; neither of the two imports the other.
    Module("Server", "IssuerKeys", imports: ["Tokens", "OpenSSL", "Curl", "JSON", "Platform", "Basics"]),
    Module("Server", "TaskAPI", imports: ["HTTP", "Tasks", "Tokens", "Zlib", "JSON", "Platform", "Basics"]),

    // The OpenID provider of tests and local work. Never linked into task-server: a signer has no place there.
    Module(
        "Authority", "MockAuthority", imports: ["HTTP", "Tokens", "OpenSSL", "JSON", "Platform", "Basics"],
        embedded: [
            "Static/common.css", "Static/sign-in.css", "Static/developer.css",
            "Static/developer.html", "Static/developer.js", "Static/refusals.txt", "Static/bad-token-rules.txt",
            "Static/metadata.json", "Static/standard-claims.json", "Static/tenants.json",
            "Static/graph.json",
        ]),

    // Programs connect the parts.
    Module(
        "Programs", "TaskServer",
        imports: [
            "HTTP", "Tokens", "Tasks", "Settings", "SQLiteStore", "PostgreSQLStore", "TaskArchive",
            "OwnerMoves", "IssuerKeys", "TaskAPI", "HTTPServer", "Platform", "Curl", "OpenSSL", "SQLite", "PostgreSQL",
            "Basics",
        ]),
    Module(
        "Programs", "MockAuthorityServer",
        imports: ["MockAuthority", "HTTPServer", "HTTP", "Settings", "Curl", "JSON", "Platform", "Basics"],
        embedded: ["ClientSettings/templates.txt", "commands.txt", "Probe/help.txt", "Probe/refused.txt"]),
]

func cLibrary(_ name: String, _ pkgConfig: String?, _ package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let cLibraries = [
    cLibrary("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
    cLibrary("COpenSSL", "libcrypto", "libssl-dev"),
    cLibrary("CSQLite", "sqlite3", "libsqlite3-dev"),
    cLibrary("CPostgreSQL", "libpq", "libpq-dev"),
    // Debian 13's libcurl.pc has flags that SwiftPM warns of at every build; the module map names the library.
    cLibrary("CCurl", nil, "libcurl4-openssl-dev"),
    cLibrary("CZlib", "zlib", "zlib1g-dev"),
]

var earlier = Set(cLibraries.map(\.name))
var folder = 0
for module in modules {
    guard let position = folders.firstIndex(of: module.folder), position >= folder else {
        fatalError("Package.swift: the folder of \(module.name) comes before that of the module listed before it")
    }
    folder = position
    for name in module.imports where !earlier.contains(name) {
        fatalError("Package.swift: \(module.name) may not import \(name), which is not listed before it")
    }
    earlier.insert(module.name)
}

func tests(_ name: String, of dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["Basics", "Support"], path: "Tests/\(name)", exclude: exclude,
        swiftSettings: strict)
}

/// Tests/FuzzTests: a test that runs every input of its corpora once.
///
/// With `FUZZ` in the environment (`make fuzz`) the same folder is a program instead, which libFuzzer drives.
let fuzzed: [Target.Dependency] = [
    "HTTP", "Tokens", "Tasks", "Settings", "TaskArchive", "IssuerKeys", "TaskAPI", "MockAuthority",
    "OpenSSL", "Curl", "Platform", "JSON",
]
let fuzzing: [Target] =
    Context.environment["FUZZ"] == nil
    ? [tests("FuzzTests", of: fuzzed, exclude: ["Driver", "Corpus", "Dictionaries", "README.md"])]
    : [
        .executableTarget(
            name: "Fuzz", dependencies: fuzzed + ["Basics", "Support"], path: "Tests/FuzzTests",
            exclude: ["CorpusTests.swift", "Corpus", "Dictionaries", "README.md"], swiftSettings: strict)
    ]

let package = Package(
    name: "task-server",
    products: [
        .executable(name: "task-server", targets: ["TaskServer"]),
        .executable(name: "mock-authority", targets: ["MockAuthorityServer"]),
    ],
    targets: cLibraries + modules.map(\.target) + [
        .target(
            name: "Support",
            dependencies: ["HTTPServer", "HTTP", "Tokens", "Tasks", "JSON", "Platform", "OpenSSL", "Basics"],
            path: "Tests/Support", swiftSettings: strict),
        tests("BasicsTests", of: []),
        tests("PlatformTests", of: ["Platform"]),
        tests("JSONTests", of: ["JSON"]),
        tests("OpenSSLTests", of: ["OpenSSL", "JSON", "Platform"], exclude: ["Vectors"]),
        tests("SQLiteTests", of: ["SQLite"]),
        tests("CurlTests", of: ["Curl", "Platform"]),
        tests("ZlibTests", of: ["Zlib"]),
        tests("HTTPTests", of: ["HTTP", "JSON"]),
        tests("TokensTests", of: ["Tokens", "JSON", "OpenSSL"]),
        tests("TasksTests", of: ["Tasks", "JSON"]),
        tests("SettingsTests", of: ["Settings"]),
        tests(
            "StoresTests",
            of: [
                "StoreEngine", "SQLiteStore", "PostgreSQLStore", "TaskArchive", "OwnerMoves", "Tasks",
                "SQLite", "PostgreSQL", "Platform", "JSON",
            ],
            exclude: ["PostgreSQL/large-records.py"]),
        tests(
            "IssuerKeysTests",
            of: [
                "IssuerKeys", "TaskAPI", "Tokens", "OpenSSL", "Curl", "HTTPServer", "HTTP", "JSON",
                "Platform",
            ], exclude: ["Recorded/Documents", "Recorded/README.md"]),
        tests(
            "TaskAPITests",
            of: [
                "TaskAPI", "SQLiteStore", "PostgreSQLStore", "HTTPServer", "HTTP", "Tasks", "Tokens",
                "JSON", "Platform",
            ]),
        tests(
            "MockAuthorityTests",
            of: ["MockAuthority", "OpenSSL", "HTTPServer", "HTTP", "JSON", "Platform"], exclude: ["sdk-calls.json"]),
        tests("HTTPServerTests", of: ["HTTPServer", "HTTP", "Platform"]),
        tests(
            "ProcessTests",
            of: [
                "TaskServer", "MockAuthorityServer", "HTTP", "JSON", "Platform", "TaskAPI", "Tasks", "IssuerKeys",
                "HTTPServer", "SQLiteStore", "SQLite", "PostgreSQL", "Tokens", "OpenSSL", "Curl",
            ],
            exclude: ["tls-exchange.py", "without-ipv6.py"]),
    ] + fuzzing
)
