"""A PostgreSQL server of Debian's package, run as an unprivileged user in a folder of its own, with real fsync."""
import contextlib
import glob
import os
import shutil
import subprocess
import time

from processes import cpu, free_port, processes

PROGRAMS = max(glob.glob("/usr/lib/postgresql/[0-9]*/bin"), default="", key=lambda path: int(path.split("/")[4]))
AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []


class Database:
    """Runs until the end of the `with` block; `settings` are lines of postgresql.conf, `environment` is added to the usual one."""

    def __init__(self, folder, settings=(), environment=None):
        self.folder, self.port, self.count = folder, free_port(), 0
        self.environment = {**os.environ, **(environment or {})}
        self.settings = ["listen_addresses='127.0.0.1'", f"port={self.port}", "unix_socket_directories=''", "max_connections=200",
                         *settings]

    def make_folder(self):
        os.makedirs(self.folder)
        parent = self.folder
        while parent != "/":  # the way there must be open to the other user
            os.chmod(parent, os.stat(parent).st_mode | 0o011)
            parent = os.path.dirname(parent)
        if AS_USER:
            shutil.chown(self.folder, "postgres", "postgres")

    def make(self):
        self.make_folder()
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.configure(*self.settings)

    def configure(self, *lines):
        with open(f"{self.folder}/data/postgresql.conf", "a") as f:
            f.write("\n".join(lines) + "\n")

    def run(self, program, *arguments):
        done = subprocess.run([*AS_USER, f"{PROGRAMS}/{program}", *arguments], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{program}: {done.stderr}")
        return done.stdout

    def start(self):
        log = open(f"{self.folder}/log", "a")
        self.process = subprocess.Popen([*AS_USER, f"{PROGRAMS}/postgres", "-D", f"{self.folder}/data"], stdout=log, stderr=log,
                                        env=self.environment)
        log.close()
        while subprocess.run([f"{PROGRAMS}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            if self.process.poll() is not None:
                raise SystemExit("PostgreSQL did not start:\n" + open(f"{self.folder}/log").read())
            time.sleep(0.02)

    def __enter__(self):
        self.make()
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(3)  # SIGQUIT: its data is not needed any more
        self.process.wait()

    def kill9(self):
        """Ends all its processes at once, as a power cut would; the next start needs them gone."""
        self.process.send_signal(19)  # SIGSTOP: no child begins between the look and the end
        children = [number for number, (parent, _) in processes().items() if parent == self.process.pid]
        for number in [self.process.pid, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, 9)
        self.process.wait()
        while any(self.is_running(number) for number in children):
            time.sleep(0.01)

    @staticmethod
    def is_running(number):
        """Whether a process has not ended; one that nobody has waited for yet has ended, too."""
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
        return False

    def address(self, name="postgres"):
        return f"postgresql://test@127.0.0.1:{self.port}/{name}?sslmode=disable"

    def sql(self, words, name="postgres"):
        return self.run("psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.address(name), "-c", words).strip()

    def new_database(self):
        self.count += 1
        self.sql(f"CREATE DATABASE bench{self.count}")
        return self.address(f"bench{self.count}")

    def cpu(self):
        """Seconds of CPU that all its processes have used."""
        return cpu(self.process.pid)
