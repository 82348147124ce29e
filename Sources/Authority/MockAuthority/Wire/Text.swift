extension String {
    /// The words between spaces.
    var words: [String] {
        utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    }
}
