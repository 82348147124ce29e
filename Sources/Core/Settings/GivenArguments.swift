/// The words of a command line, taken out one setting after the other; what is left at the end is a mistake or an
/// operand.
struct GivenArguments {
    /// What a flag was given.
    enum Occurrence {
        case value(String)
        case bare
    }

    private var words: [String?]
    /// Behind `--`: never a flag.
    private let trailing: [String]

    init(_ arguments: [String]) {
        let flags = arguments.prefix { $0 != "--" }
        words = flags.map { $0 }
        trailing = Array(arguments.dropFirst(flags.count + 1))
    }

    /// Takes out all occurrences of `--name`, `--name=value` and `--name value`.
    ///
    /// With `optional` the next word is taken only if `accepts` knows it: `--flag check` leaves the command alone.
    mutating func take(_ flag: String, accepts: (String) -> Bool) -> [Occurrence] {
        var found: [Occurrence] = []
        for index in words.indices {
            guard let word = words[index] else { continue }
            if word == flag {
                words[index] = nil
                found.append(takeValue(behind: index, accepts: accepts).map { .value($0) } ?? .bare)
            } else if word.hasPrefix(flag + "=") {
                words[index] = nil
                found.append(.value(String(word.dropFirst(flag.count + 1))))
            }
        }
        return found
    }

    private mutating func takeValue(behind index: Int, accepts: (String) -> Bool) -> String? {
        let next = index + 1
        guard next < words.count, let value = words[next], !value.hasPrefix("--"), accepts(value) else { return nil }
        words[next] = nil
        return value
    }

    /// Takes out what no setting took: flags that nobody knows, and the words that are none.
    mutating func takeRest() -> (unknownFlags: [String], operands: [String]) {
        var unknown: [String] = []
        var operands: [String] = []
        var behindUnknown = false
        for case let word? in words {
            if word.hasPrefix("-"), word != "-" {
                unknown.append(String(word.prefix { $0 != "=" }))
                behindUnknown = !word.contains("=")
            } else {
                // The word behind an unknown flag is probably its value: one mistake, not two.
                if !behindUnknown { operands.append(word) }
                behindUnknown = false
            }
        }
        return (unknown, operands + trailing)
    }
}
