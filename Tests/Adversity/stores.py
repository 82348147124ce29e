"""The two databases of a soak run, each on a disk that can be full (scripts/system-faults.c), with what can be checked in them."""
import os
import pathlib
import shutil
import sqlite3
import subprocess

from programs import ROOT  # first, since it makes the next one known
from database import AS_USER, PROGRAMS, Database


def full_disk_library(folder):
    """Builds what makes a folder be a full disk."""
    swift = os.path.realpath(shutil.which("swift") or "/nowhere")
    compiler = next((each for each in (f"{os.path.dirname(swift)}/clang", "cc") if shutil.which(each)), "cc")
    library = f"{folder}/system-faults.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, ROOT / "scripts/system-faults.c", "-ldl"], check=True)
    return library


class SQLite:
    name = "SQLite"

    def __init__(self, folder, library):
        self.disk = f"{folder}/disk"
        os.mkdir(self.disk)
        self.file, self.address = f"{self.disk}/tasks.db", f"sqlite:{self.disk}/tasks.db"
        self.settings = {"LD_PRELOAD": library, "FULL_DISK": self.disk}

    def check(self):
        """What the database says of itself."""
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as connection:
            answer = connection.execute("PRAGMA integrity_check").fetchall()
        return "" if answer == [("ok",)] else f"PRAGMA integrity_check: {answer[:3]}"

    def close(self):
        pass


class PostgreSQL:
    name = "PostgreSQL"
    settings = {}

    def __init__(self, folder, library):
        self.disk = f"{folder}/tables"
        os.mkdir(self.disk)
        pathlib.Path(folder).chmod(0o755)
        if AS_USER:
            shutil.chown(self.disk, "postgres", "postgres")
        self.server = Database(f"{folder}/postgresql", environment={"LD_PRELOAD": library, "FULL_DISK": self.disk})
        self.server.make()
        self.server.start()
        self.server.sql(f"CREATE TABLESPACE small LOCATION '{self.disk}'")
        self.server.sql("CREATE DATABASE tasks TABLESPACE small")
        self.address = self.server.address("tasks")
        self.kill9, self.start, self.sql = self.server.kill9, self.server.start, lambda words: self.server.sql(words, "tasks")

    def check(self):
        done = subprocess.run([f"{PROGRAMS}/pg_amcheck", "--install-missing", "--heapallindexed", "-h", "127.0.0.1", "-p",
                               str(self.server.port), "-U", "test", "tasks"], capture_output=True, text=True, timeout=300)
        return "" if done.returncode == 0 else f"pg_amcheck: {(done.stdout + done.stderr)[-300:]}"

    def close(self):
        self.server.__exit__()
