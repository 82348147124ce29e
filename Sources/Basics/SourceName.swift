extension StringProtocol {
    /// Whether this can be the name of a token source (P-1): 1 to 16 of `a-z`, `0-9` and `-`, so that no GUID is one.
    package var isSourceName: Bool {
        (1...16).contains(utf8.count)
            && utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isDecimalDigit
                    || byte == UInt8(ascii: "-")
            }
    }

    /// The text as part of the name of a variable: in capital letters, with `_` for `-`.
    package var asVariable: String { String(map { $0 == "-" ? "_" : $0 }).uppercased() }
}
