/// A property list in XML, as the iOS samples read their settings.
struct PropertyList {
    enum Value {
        case text(String), texts([String]), truth(Bool)
    }

    private let members: [(String, Value)]
    private let comment: String

    /// `comment` comes first; XML allows no `--` in it.
    init(_ members: [(String, Value)], comment: String) {
        self.members = members
        self.comment = comment
    }

    var text: String {
        let lines = members.flatMap { name, value in ["\t<key>\(escaped(name))</key>"] + elements(value) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!--
            \(comment)
            -->
            <plist version="1.0">
            <dict>
            \(lines.joined(separator: "\n"))
            </dict>
            </plist>
            """
    }

    private func elements(_ value: Value) -> [String] {
        switch value {
        case .text(let text): ["\t<string>\(escaped(text))</string>"]
        case .truth(let truth): [truth ? "\t<true/>" : "\t<false/>"]
        case .texts(let texts): ["\t<array>"] + texts.map { "\t\t<string>\(escaped($0))</string>" } + ["\t</array>"]
        }
    }

    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
        return result
    }
}
