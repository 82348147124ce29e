private import HTTP

extension StringProtocol {
    /// Equality by bytes with ASCII letters in any case; Swift's own equality would take NFC for NFD.
    func isEqualIgnoringCase(to other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// Equality by bytes.
    func isSame(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// The parts between spaces.
    var spaceSeparated: [String] {
        utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    }
}
