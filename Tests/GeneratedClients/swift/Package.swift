// swift-tools-version:6.0
import PackageDescription

// test_generated_clients.py copies this package beside the client that it generates, and adds the app of the documents.
let client = Target.Dependency.product(name: "Todo", package: "swift6")
let package = Package(
    name: "Journey",
    dependencies: [.package(path: "../swift6")],
    targets: [
        .executableTarget(name: "Journey", dependencies: [client]),
        .executableTarget(name: "Documented", dependencies: [client]),
    ]
)
