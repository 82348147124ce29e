extension String {
    /// Reads bytes as UTF-8, or else as Latin-1, which old clients send without saying so.
    package init(lenient bytes: [UInt8]) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self.init(latin1: bytes)
        }
    }

    /// Reads bytes as Latin-1, in which each byte is the number of its character.
    package init(latin1 bytes: [UInt8]) {
        self = String(decoding: bytes.lazy.map { UInt16($0) }, as: UTF16.self)
    }
}
