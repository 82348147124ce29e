import Settings

/// What `--help` prints: enough to start without another page.
enum HelpText {
    static var whole: String {
        """
        task-server keeps people's tasks at /api/tasks, for holders of Azure AD B2C bearer tokens.

        Usage:
            task-server [serve]          serves until SIGTERM or Ctrl-C; SIGHUP fetches the authority's keys again
            task-server check            tries settings, authority, database, TLS and addresses, and says what is wrong
            task-server health [ready]   asks the server that runs with these settings whether it is alive, or ready; over
                                         TLS if it serves that, whatever its certificate
            task-server explain-token    reads a token from standard input and goes through every check; the token
                                         is sent nowhere
            task-server backup FILE      writes a copy of the database, also while a server runs
            task-server export [FILE]    writes all tasks, and the idempotency keys of the last day, to a file, or
                                         standard output, one JSON object a line: each person as of one moment, people
                                         one after the other. What is not whole is FILE.part; export --resume FILE
                                         continues it, with the people that come after those in it as they are by then
            task-server import [FILE]    reads such lines from a file, or standard input, into the database. What the
                                         database has already stays as it is, so an import that was stopped is continued
                                         by running it again
            task-server migrate          makes the tables or brings them up to date; --partitions 16 divides new ones

        Examples:
            TASKS_AUTHORITY=https://contoso.b2clogin.com/contoso.onmicrosoft.com \\
            TASKS_POLICIES=b2c_1_sign_up,b2c_1_sign_in TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609 task-server

            task-server check --authority http://127.0.0.1:3001/contoso.onmicrosoft.com \\
                --policies b2c_1_sign_in --client-id 580e250c-8f26-49d0-bee8-1c078add1609

            task-server explain-token < token.txt
            task-server backup --database sqlite:/var/lib/tasks/tasks.db /backup/tasks-copy.db

        Settings: a flag overrides its variable, that the default. All mistakes are reported together.

        \(ServerSettings.helpText)
        The log goes to standard output: text on a terminal, else one JSON object a line. Mistakes go to standard error.
        Exit codes: 0 done, 1 failed, 130 stopped by Ctrl-C (export, import; 143 by SIGTERM), 78 wrong settings or command line.
        """
    }
}
