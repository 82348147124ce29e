import Basics

/// A text that was found for a setting, and its source.
struct GivenText {
    let text: String
    /// The flag or the variable, as a person wrote it.
    let name: String
    let source: SettingEntry.Source
}

extension SettingReader {
    /// Returns all texts from the first source that has any: flags, then the environment, then a file of blocks.
    mutating func find<Value>(_ name: String, _ kind: SettingKind<Value>) -> [GivenText] {
        let name = scope + name
        let flag = SettingEntry.flag(of: name)
        let plain = fromFlags(flag, kind)
        let files = kind.hasFile ? fromFlags("\(flag)-file", .path) : []
        let variable = input.environment["\(prefix)\(name)"].flatMap { $0.isEmpty ? nil : $0 }
        let file = kind.hasFile ? input.environment["\(prefix)\(name)_FILE"].flatMap { $0.isEmpty ? nil : $0 } : nil
        if !plain.isEmpty || !files.isEmpty {
            return plain + files.compactMap { contents(of: $0.text, named: $0.name, .flag, kind) }
        }
        if variable != nil, file != nil {
            mistakes.append("\(prefix)\(name) and \(prefix)\(name)_FILE are both set; set one of them.")
        }
        if let variable { return [GivenText(text: variable, name: "\(prefix)\(name)", source: .environment)] }
        guard let file else {
            return fileTexts[name].map { [GivenText(text: $0, name: "\(prefix)\(name)", source: .file)] } ?? []
        }
        return contents(of: file, named: "\(prefix)\(name)_FILE", .environment, kind).map { [$0] } ?? []
    }

    mutating func fromFlags<Value>(_ flag: String, _ kind: SettingKind<Value>) -> [GivenText] {
        let accepts: (String) -> Bool = kind.bareFlag == nil ? { _ in true } : { kind.parse($0) != nil }
        var texts: [GivenText] = []
        for value in arguments.take(flag, accepts: accepts) {
            if let text = value ?? kind.bareFlag {
                texts.append(GivenText(text: text, name: flag, source: .flag))
            } else {
                mistakes.append("\(flag) needs a value: \(kind.expected). Example: \(flag) \(kind.example)")
            }
        }
        return texts
    }

    /// Reads the text of a setting's file, without the newline that editors put at the end.
    ///
    /// An empty file gives no value, like an empty variable, except in the place of a secret.
    private mutating func contents<Value>(
        of path: String, named name: String, _ source: SettingEntry.Source, _ kind: SettingKind<Value>
    ) -> GivenText? {
        switch input.file(path) {
        case .success(let text):
            // CR LF is one character, which `hasSuffix("\n")` does not find.
            let line = text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text
            return line.isEmpty && !kind.isSecret ? nil : GivenText(text: line, name: name, source: source)
        case .failure(let failure):
            mistakes.append("\(name): cannot read '\(path.escapedForPeople)': \(failure.message)")
            return nil
        }
    }

    /// Adds the line of a setting to the table; `isValue` says whether the default is a value or a text about absence.
    mutating func note<Value>(
        _ name: String, _ kind: SettingKind<Value>, _ given: [GivenText], _ entry: SettingEntry, isValue: Bool
    ) {
        var entry = entry
        entry.flag = SettingEntry.flag(of: scope + name)
        entry.variable = "\(prefix)\(scope)\(name)"
        entry.placeholder = kind.placeholder
        entry.hasFile = kind.hasFile
        entry.isAbsent = given.isEmpty && !isValue
        entry.shown = given.isEmpty ? entry.fallback : given.map { kind.shown($0.text) }.joined(separator: ",")
        entry.source = given.first?.source ?? .fallback
        entries.append(entry)
    }

    /// Takes out the operands, and reports flags and variables that belong to no setting.
    mutating func takeOperands() -> [String] {
        let (unknown, operands) = arguments.takeRest()
        let flags = entries.flatMap(\.flags)
        for flag in unknown {
            mistakes.append("\(flag.escapedForPeople) is no flag of this program.\(hint(flag, flags))")
        }
        let variables = Set(entries.flatMap(\.variables))
        for name in input.environment.keys.sorted() where name.hasPrefix(prefix) && !variables.contains(name) {
            if isServiceLink(name) { continue }
            mistakes.append("\(name.escapedForPeople) is no setting of this program.\(hint(name, variables.sorted()))")
        }
        return operands
    }

    func hint(_ written: String, _ names: [String]) -> String {
        if let hint = groupHint(written) { return hint }
        return suggestion(for: written, among: names).map { " Did you mean \($0)?" } ?? " --help lists them."
    }

    /// Returns whether Kubernetes set the variable for a service called `tasks`.
    private func isServiceLink(_ name: String) -> Bool {
        let rest = name.dropFirst(prefix.count)
        return rest == "PORT" || rest.hasPrefix("PORT_") || rest.hasPrefix("SERVICE_HOST")
            || rest.hasPrefix("SERVICE_PORT")
    }
}

extension String {
    /// The text with control characters made visible and its length bounded, for a message on a terminal.
    var escapedForPeople: String {
        let visible = unicodeScalars.prefix(200).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }
        return visible.joined() + (unicodeScalars.count > 200 ? "..." : "")
    }
}
