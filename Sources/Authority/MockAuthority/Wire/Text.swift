extension String {
    /// The parts between spaces.
    var spaceSeparated: [String] {
        utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    }
}
