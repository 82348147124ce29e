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
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            if byte >= 0x80 { text.append(0xC0 | byte >> 6) }
            text.append(byte < 0x80 ? byte : 0x80 | byte & 0x3F)
        }
        self = String(decoding: text, as: UTF8.self)
    }
}
