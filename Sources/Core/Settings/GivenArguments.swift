/// The arguments of a command line, taken out setting by setting; the rest are mistakes or operands.
struct GivenArguments {
    private var arguments: [String?]
    /// The arguments after `--`, which are never flags.
    private let trailing: [String]

    init(_ given: [String]) {
        let flags = given.prefix { $0 != "--" }
        arguments = flags.map { $0 }
        trailing = Array(given.dropFirst(flags.count + 1))
    }

    /// Takes out all occurrences of `--name`, `--name=value` and `--name value`, and returns their values.
    ///
    /// The next argument is taken only if `accepts` allows it: `--flag check` leaves the command alone.
    mutating func take(_ flag: String, accepts: (String) -> Bool) -> [String?] {
        var found: [String?] = []
        for index in arguments.indices {
            guard let argument = arguments[index] else { continue }
            if argument == flag {
                arguments[index] = nil
                found.append(takeValue(after: index, accepts: accepts))
            } else if argument.hasPrefix(flag + "=") {
                arguments[index] = nil
                found.append(String(argument.dropFirst(flag.count + 1)))
            }
        }
        return found
    }

    private mutating func takeValue(after index: Int, accepts: (String) -> Bool) -> String? {
        let next = index + 1
        guard next < arguments.count, let value = arguments[next], !value.hasPrefix("--"), accepts(value) else {
            return nil
        }
        arguments[next] = nil
        return value
    }

    /// Takes out the rest, which is unknown flags and operands.
    mutating func takeRest() -> (unknownFlags: [String], operands: [String]) {
        var unknown: [String] = []
        var operands: [String] = []
        var afterUnknown = false
        for case let argument? in arguments {
            if argument.hasPrefix("-"), argument != "-" {
                unknown.append(String(argument.prefix { $0 != "=" }))
                afterUnknown = !argument.contains("=")
            } else {
                // The argument after an unknown flag is probably its value, so both are one mistake and not two.
                if !afterUnknown { operands.append(argument) }
                afterUnknown = false
            }
        }
        return (unknown, operands + trailing)
    }
}
