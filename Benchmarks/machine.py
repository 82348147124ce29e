"""The machine and the versions of a run, without what names it."""
import os
import platform
import re
import subprocess

# The names of Debian 12 and 13; those that are not installed are left out.
PACKAGES = ["libmicrohttpd12", "libmicrohttpd12t64", "libssl3", "libssl3t64", "libsqlite3-0", "libpq5", "postgresql-15", "postgresql-17",
            "nginx-light", "golang-1.23-go", "golang-1.24-go", "golang-github-golang-jwt-jwt-v5-dev", "golang-github-mattn-go-sqlite3-dev",
            "golang-github-lib-pq-dev", "python3-fastapi", "python3-uvicorn", "python3-jwt", "wrk"]


def description(root):
    """Lines of words and values: cores, processor, memory, kernel, system, disk, the commit, packages."""
    return {
        "Cores": f"{os.cpu_count()} of {first('/proc/cpuinfo', r'model name.*: (.*)')}"
                 + (", virtual" if "hypervisor" in read("/proc/cpuinfo") else ""),
        "Memory": f"{int(first('/proc/meminfo', r'MemTotal: +([0-9]+)')) / 2**20:.0f} GiB",
        "Kernel": re.match(r"[\d.]*\d", platform.release())[0],
        "System": first("/etc/os-release", r'PRETTY_NAME="(.*)"'),
        "File system": output("stat", "--file-system", "--format=%T", root),
        "Swift": (re.search(r"Swift version (\S+)", output("swift", "--version")) or ["", "unknown"])[1],
        "Commit": commit(root),
        "Packages": ", ".join(filter(None, map(version, PACKAGES))),
    }


def read(path):
    with open(path) as f:
        return f.read()


def first(path, pattern):
    found = re.search(pattern, read(path))
    return found[1].strip() if found else "unknown"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def commit(root):
    changed = output("git", "-C", root, "status", "--porcelain", "--", "Sources", "Package.swift")
    return output("git", "-C", root, "rev-parse", "--short", "HEAD") + (", with changes" if changed else "")


def version(package):
    number = output("dpkg-query", "--show", "--showformat=${Version}", package)
    return f"{package} {number}" if number else ""
