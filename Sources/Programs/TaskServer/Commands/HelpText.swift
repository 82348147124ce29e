import Settings

/// What `--help` prints: enough to start without another page.
enum HelpText {
    static var whole: String {
        """
        task-server keeps people's tasks at /api/tasks, for holders of bearer tokens of Azure AD B2C, Entra External ID,
        Entra ID or another OpenID provider.

        Usage:
            task-server [serve]          serves until SIGTERM or Ctrl-C. At SIGHUP it reads the certificate and the files of
                                         --log-level-file and --distrusted-keys-file again, and fetches the authority's
                                         keys. Sockets of a service manager (LISTEN_FDS) replace TASKS_LISTEN
            task-server check            checks settings, authority, database, TLS and addresses, and reports what is wrong
            task-server health [ready]   asks the running server of these settings whether it is alive, or ready; over TLS
                                         if it serves that, without checking its certificate
            task-server explain-token    reads a token from standard input and prints the result of every check of a server
                                         with these settings; the token is sent nowhere
            task-server backup FILE      writes a copy of the database, also while a server runs
            task-server restore FILE     checks such a copy and puts it in the place of the SQLite database, which keeps its
                                         owner and permissions; what was there gets another name. The server is
                                         stopped first
            task-server export [FILE]    writes all tasks, and the idempotency keys of the last day, to a file or to
                                         standard output, one JSON object per line, person by person; the lines of one
                                         person are a snapshot. The file is FILE.part until it is whole. A stopped export leaves
                                         neither, a killed one FILE.part, which the next export writes over
            task-server import [FILE]    reads such lines from a file or from standard input into the database. Tasks that
                                         exist are not changed, so a stopped import is continued by running it again. A
                                         server that uses the same SQLite file must be stopped first; with PostgreSQL,
                                         servers may run
            task-server move-owners MAP  gives people's tasks to other owners, as after a move to another tenant. MAP has lines
                                         old,new (CSV). Without --apply it only says what it would do.
                                         Each person is moved whole; a stopped move is continued by running it again. With
                                         --apply, servers are stopped first as for import (docs/migrate-to-external-id.md)
            task-server migrate          creates or upgrades the tables; --partitions 16 partitions new ones

        Examples:
            TASKS_AUTHORITY=https://contoso.b2clogin.com/contoso.onmicrosoft.com \\
            TASKS_POLICIES=b2c_1_sign_up,b2c_1_sign_in TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server

            task-server check --authority http://127.0.0.1:3001/contoso.onmicrosoft.com \\
                --policies b2c_1_sign_in --client-id 580e250c-8f26-49d0-bee8-1c078add1609

            TASKS_AUTHORITY=https://contoso.ciamlogin.com TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server

            task-server explain-token < token.txt
            task-server backup --database sqlite:/var/lib/tasks/tasks.db /backup/tasks-copy.db

        Settings: a flag overrides its variable, the variable overrides the default. All mistakes are reported together.

        \(ServerSettings.helpText)
        The log goes to standard output: text on a terminal, else one JSON object per line. Errors go to standard error.
        Exit codes: 0 done, 1 failed, 130 stopped by Ctrl-C (export, import, move-owners; 143 by SIGTERM, 129 by SIGHUP), 78 wrong settings or command line.
        """
    }
}
