import Settings

/// What `--help` says about one command.
struct CommandHelp {
    /// The command with what follows its name: `task-server backup FILE`.
    let usage: String
    /// What the command does; the last line is an example.
    private(set) var lines: [String] = []

    private var name: String { String(usage.split(separator: " ")[1]) }

    /// The help of the command that these arguments name; nil if they name none.
    static func forCommand(in arguments: [String]) -> String? {
        guard let help = all.first(where: { arguments.contains($0.name) }) else { return nil }
        let end = "task-server --help lists the settings and the exit codes."
        return (["Usage: \(help.usage) [settings]", ""] + help.lines + ["", end]).joined(separator: "\n")
    }

    /// The sentence about operands that are no command.
    static func mistake(_ name: String) -> String {
        if let help = all.first(where: { $0.name == name }) {
            return "The command is \(help.usage). \(help.lines.last ?? "")"
        }
        let names = all.map(\.name)
        let hint = suggestion(for: name, among: names).map { "Did you mean \($0)?" }
        return "There is no such command. \(hint ?? "The commands are \(names.joined(separator: ", ")).")"
    }

    private static let all: [CommandHelp] = text.split(separator: "\n").reduce(into: []) { all, line in
        if line.hasPrefix("    ") {
            all[all.count - 1].lines.append(String(line.dropFirst(4)))
        } else {
            all.append(CommandHelp(usage: String(line)))
        }
    }

    /// All commands, each with indented lines that say what it does, and an example.
    private static let text = """
        task-server serve
            Serves until SIGTERM or Ctrl-C; it is the command if none is given. At SIGHUP it reads the certificate and the
            files of --log-level-file and --distrusted-keys-file again, and fetches the authority's keys. Sockets of a
            service manager (LISTEN_FDS) replace TASKS_LISTEN.
            Example: task-server --listen 127.0.0.1:3000
        task-server check
            Checks settings, authority, database, TLS and addresses, reports what is wrong, and changes nothing.
            Example: task-server check
        task-server health [ready]
            Asks the running server of these settings whether it is alive, or ready; over TLS if it serves that, without
            checking its certificate.
            Example: task-server health ready
        task-server explain-token < FILE
            Reads a token from standard input, where no process list shows it, and prints why a server with these settings
            refuses it, what it compares with what, and the setting to change; the token is sent nowhere.
            Example: task-server explain-token < token.txt
        task-server backup FILE
            Writes a copy of the SQLite database to a new file, also while a server runs.
            Example: task-server backup --database sqlite:/var/lib/tasks/tasks.db /backup/tasks-copy.db
        task-server restore FILE
            Checks such a copy and puts it in the place of the SQLite database, which keeps its owner and permissions; what
            was there gets another name. The server is stopped first.
            Example: task-server restore /backup/tasks-copy.db
        task-server export [FILE]
            Writes all tasks, and the idempotency keys of the last day, to a file or to standard output, one JSON object per
            line, person by person; the lines of one person are a snapshot. The file is FILE.part until it is whole. A
            stopped export leaves neither, a killed one FILE.part, which the next export writes over. --owner OWNER exports
            one person, who is named as for delete-owner.
            Example: task-server export tasks.jsonl
        task-server import [FILE]
            Reads such lines from a file or from standard input into the database. Tasks that exist are not changed, so a
            stopped import is continued by running it again. A server that uses the same SQLite file must be stopped first;
            with PostgreSQL, servers may run.
            Example: task-server import tasks.jsonl
        task-server move-owners MAP
            Gives people's tasks to other owners, as after a move to another tenant. MAP has lines old,new (CSV). Without
            --apply it only says what it would do. --merge also moves to owners who have tasks, --list-unmapped FILE lists
            who is not in the map, --any-namespace moves to owners whom no token names. Each person is moved whole; a
            stopped move is continued by running it again. With --apply, servers are stopped first as for import
            (docs/migrate-to-external-id.md).
            Example: task-server move-owners owners.csv --apply
        task-server delete-owner OWNER
            Deletes everything of a person: tasks and idempotency keys. Tokens from before then add nothing more. OWNER is the
            oid of the tokens, after the name of the source if that has one (ext:ID). Without --apply it only says what is
            there. With --apply, servers are stopped first as for import. Backups and exports keep what they have.
            Example: task-server delete-owner a11ce000-0000-4000-8000-000000000001 --apply
        task-server migrate
            Creates or upgrades the tables; --partitions 16 partitions new ones; --distribute gives them to Citus (docs/scale.md).
            Example: task-server migrate --database postgresql://tasks@db.example/tasks
        """

    /// The help of the whole program, enough to start without another page.
    static var whole: String {
        """
        task-server keeps people's tasks at /api/tasks, for holders of bearer tokens of Azure AD B2C, Entra External ID,
        Entra ID or another OpenID provider.

        Usage: task-server [command] [settings]

        \(text.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))

        Examples:
            TASKS_AUTHORITY=https://contoso.b2clogin.com/contoso.onmicrosoft.com \\
            TASKS_POLICIES=b2c_1_sign_up,b2c_1_sign_in TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server

            TASKS_AUTHORITY=https://contoso.ciamlogin.com TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server

        Settings: a flag overrides its variable, the variable overrides the default. All mistakes are reported together.

        \(ServerSettings.helpText)
        The log goes to standard output: text on a terminal, else one JSON object per line. Errors go to standard error.
        Exit codes: 0 done, 1 failed, 78 wrong settings, command or flag; 129, 130 and 143 stopped by SIGHUP, Ctrl-C and SIGTERM
        (export, import, move-owners).
        """
    }
}
