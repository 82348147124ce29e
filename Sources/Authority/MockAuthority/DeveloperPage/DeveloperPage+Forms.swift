import Basics
import JSON
import Synchronization

/// The forms of the page that use the controls.
extension DeveloperPage {
    func form(_ action: DeveloperAction, label: String? = nil, _ content: HTML) -> HTML {
        let name: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
        return """
            <form method="post" action="\(path)"\(name)>
            <input type="hidden" name="action" value="\(action.rawValue)">
            \(content)
            </form>
            """
    }

    /// A labelled field; `prefix` keeps the identifiers of the page apart.
    func field(_ name: String, _ label: String, prefix: String, value: String = "", type: String = "text") -> HTML {
        """
        <p class="field"><label for="\(prefix)-\(name)">\(label)</label>
        <input id="\(prefix)-\(name)" name="\(name)" type="\(type)" value="\(value)" autocomplete="off"></p>
        """
    }

    /// A labelled choice of one of these values.
    func choice(_ name: String, _ label: String, prefix: String, _ values: [(value: String, title: String)]) -> HTML {
        let options = values.map { "<option value=\"\($0.value)\">\($0.title)</option>" as HTML }
        return """
            <p class="field"><label for="\(prefix)-\(name)">\(label)</label>
            <select id="\(prefix)-\(name)" name="\(name)">\(options)</select></p>
            """
    }

    /// A form that gets one token as text, by the control that programs use.
    var tokenForm: HTML {
        let policies = configuration.policies.map(\.name).filter { !$0.isEmpty }
        let policy: HTML =
            policies.isEmpty
            ? ""
            : choice(
                "policy", "Policy", prefix: "token", [("", "the first for signing in")] + policies.map { ($0, $0) })
        // A form that is sent with GET puts its fields in place of the query of its address.
        let selected = HostContext.selected(context.authority, run: context.runName)
        let hidden = selected.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\($1)\">" as HTML }
        return """
            <form method="get" action="\(MockAuthority.Path.testToken)">
            \(hidden)
            <div class="fields">\(userChoice(prefix: "token"))
            \(policy)
            \(field("scope", "Scope", prefix: "token"))</div>
            <p><button class="primary">Get it</button>
            <button type="button" class="script" data-copy-token hidden>Copy it</button></p>
            </form>
            <p>By program: <code>curl -s '\(context.base)\(tokenTarget)'</code></p>
            """
    }

    /// Where a token of the first user comes from, of the tenant and run that are shown.
    var tokenTarget: String {
        let mark = context.selection.isEmpty ? "?" : "\(context.selection)&"
        let user = PercentEncoding.encode(users.first?.email ?? "alice")
        return "\(MockAuthority.Path.testToken)\(mark)user=\(user)"
    }

    private func userChoice(prefix: String) -> HTML {
        choice("user", "User", prefix: prefix, users.map { ($0.email, "\($0.name.display), \($0.email)") })
    }

    var keyForms: HTML {
        let rows = keys.all.map { key, use -> HTML in
            let mark = use == .active ? "signs" : use.rawValue
            return "<li><code>\(key.identifier)</code> <span class=\"mark\">\(mark)</span></li>"
        }
        let buttons = KeyStep.allCases.map { step -> HTML in
            """
            <li><button name="do" value="\(step.rawValue)">\(step.rawValue)</button> <span>\(step.effect)</span></li>
            """
        }
        return """
            <ul class="rows">\(rows)</ul>
            \(form(.keys, label: "Change the keys", "<ul class=\"rows\">\(buttons)</ul>"))
            """
    }

    var clockForm: HTML {
        let skew = run.skew.withLock { $0 }
        let now = Timestamp.b2cText(seconds: context.authority.now(in: run))
        let steps: [(Int64, String)] = [
            (0, "right"), (-7200, "two hours slow"), (-300, "five minutes slow"), (300, "five minutes fast"),
            (7200, "two hours fast"),
        ]
        let buttons = steps.map { "<button name=\"skew_s\" value=\"\($0)\">\($1)</button>" as HTML }
        return """
            <p>Tokens are dated by <time>\(now)</time>, \(skew) seconds off.</p>
            \(form(.clock, label: "Set the clock", "<p class=\"buttons\">\(buttons)</p>"))
            \(form(.clock, label: "Set the clock by seconds", """
                <div class="fields">\(field("skew_s", "Seconds off", prefix: "clock", value: "\(skew)"))</div>
                <p><button>Set</button></p>
                """))
            """
    }

    var faultForms: HTML {
        let endpoints = Fault.Endpoint.allCases.map { (value: $0.rawValue, title: $0.rawValue) }
        let fields: [HTML] = [
            choice("at", "Endpoint", prefix: "fault", endpoints), field("times", "Times", prefix: "fault", value: "1"),
            field("status", "Status", prefix: "fault", value: "503"),
            field("delay_ms", "Milliseconds before", prefix: "fault"),
            field("retry_after", "Retry-After, seconds", prefix: "fault"), field("body", "Body", prefix: "fault"),
        ]
        return """
            \(Activity(run: run).faults(in: "waiting-faults"))
            \(form(.fault, label: "Add a fault", """
                <div class="fields">\(fields)</div>
                <p class="check"><input id="fault-cut" type="checkbox" name="cut" value="true">
                <label for="fault-cut">Cut the body in half</label></p>
                <p><button class="primary">Add the fault</button></p>
                """))
            """
    }

    var resetForm: HTML {
        """
        <p>Users, clock, faults, requests and tokens of this run become what they were at the start. Keys stay.</p>
        \(form(.reset, "<p><button class=\"danger\">Reset</button></p>"))
        """
    }
}

extension KeyStep {
    /// What it does, for people.
    fileprivate var effect: String {
        switch self {
        case .publish: "one more key in the set, which does not sign yet"
        case .activate: "the newest key of the set signs"
        case .retire: "only the key that signs stays in the set"
        case .rotate: "all three at once"
        }
    }
}
