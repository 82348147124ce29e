import Basics
@testable import Settings

/// Every line is a value of each kind; all lines together are a command line, and `NAME=value` is a variable.
func checkSettings(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    for line in lines { try checkValue(line) }
    var (words, variables): ([String], [String: String]) = ([], [:])
    for line in lines {
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 2, !line.hasPrefix("-") {
            variables["FUZZ_\(parts[0])"] = parts[1]
        } else {
            words.append(line)
        }
    }
    let read: ReadSettings<SampleSettings>
    do throws(SettingMistakes) {
        read = try SampleSettings.read(SettingInput(arguments: words, environment: variables))
    } catch {
        return
    }
    try require((1...100).contains(read.values.number), "a number is within its bounds")
    guard let secret = read.values.secret, secret.utf8.count > 8 else { return }
    let shown = read.entries.filter { $0.variable == "FUZZ_SECRET" }.map(\.shown)
    try require(shown == ["(hidden)"], "a secret is not shown")
}

/// One setting of each kind.
private struct SampleSettings: SettingTable {
    static let prefix = "FUZZ_"
    let number: Int
    let secret: String?

    init(reading reader: inout SettingReader) {
        number = reader.value("NUMBER", .integer(1...100, example: 7), default: "7", help: "A number.")
        let _: [ListenAddress] = reader.list("LISTEN", .listenAddress, default: ["127.0.0.1:3000"], help: "Where.")
        let _: WebAddress? = reader.optional("URL", .webAddress(example: "https://example.com"), help: "A URL.")
        let _: Duration = reader.value(
            "TIME", .duration(.milliseconds(1)...(.seconds(86_400)), example: "15m"), default: "1s", help: "A time.")
        let _: Int = reader.value("SIZE", .byteSize(1...(1 << 40), example: "1MiB"), default: "1", help: "A size.")
        let _: Bool = reader.value("TRUTH", .bool, default: "false", help: "Yes or no.")
        secret = reader.optional(
            "SECRET", .text("WORD", expected: "a word", example: "x").redacted { _ in "(hidden)" }, help: "A secret.")
        _ = reader.flag("version", help: "A flag.")
    }
}

private func checkValue(_ text: String) throws {
    if let address = ListenAddress(text) {
        try require(ListenAddress(address.description) == address, "an address is read as it was written")
        try require(!address.host.contains("["), "a host has no brackets")
    }
    if let address = WebAddress(text) {
        try require(!address.host.isEmpty && !address.host.contains("@"), "a URL has a host and no user")
        try require(WebAddress(address.text)?.host == address.host, "a URL is read as it was written")
    }
    let times = SettingKind.duration(.milliseconds(1)...(.seconds(86_400)), example: "15m")
    if let time = times.parse(text) {
        try require(times.parse(time.short) == time, "a time is read as it was written")
    }
    if let size = SettingKind.byteSize(1...(1 << 40), example: "1MiB").parse(text) {
        try require((1...(1 << 40)).contains(size), "a size is within its bounds")
    }
    try require(text.escapedForPeople.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "a message has no controls")
}
