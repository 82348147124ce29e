import Basics

/// Reads `Cache-Control`, as far as a key cache needs it.
enum CacheControl {
    /// Returns the seconds of the first `max-age` directive, if it is a number (RFC 9111 section 5.2.2.1).
    static func maxAge(_ field: String) -> Int? {
        for directive in field.split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
            guard parts.count == 2, parts[0].lowercased() == "max-age" else { continue }
            let digits = parts[1].trimmingQuotes
            // More than nine digits (thirty years) mean nothing here, and could overflow.
            guard (1...9).contains(digits.utf8.count), let seconds = Int(decimal: digits) else {
                return nil
            }
            return seconds
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmingQuotes: Substring {
        guard utf8.count >= 2, first == "\"", last == "\"" else { return self }
        return dropFirst().dropLast()
    }
}
