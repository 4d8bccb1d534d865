"""Programs that tests start. If a program is not installed, the test is skipped with a reason; in CI it fails."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def report_missing(name, hint):
    """Skip the test with a reason; in continuous integration let it fail."""
    reason = f"{name} was not found; {hint}"
    if "CI" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)


def program(name, *folders):
    """Return the path of a program: on PATH, or in one of the folders (patterns); None if it is not found."""
    found = shutil.which(name)
    if found:
        return found
    places = sorted(str(place) for folder in folders for place in Path("/").glob(folder.lstrip("/")))
    return next((str(Path(place) / name) for place in reversed(places) if (Path(place) / name).exists()), None)


@contextlib.contextmanager
def postgres():
    """Start a PostgreSQL server in a temporary folder, and yield a connection to it."""
    import psycopg

    initdb, pg_ctl = (program(name, "/usr/lib/postgresql/*/bin") for name in ("initdb", "pg_ctl"))
    if not (initdb and pg_ctl):
        report_missing("a PostgreSQL server (initdb, pg_ctl)", "on Debian: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="drs-pg-"))
    user = _unprivileged(folder)
    run = {"user": user, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    try:
        data = folder / "data"
        subprocess.run([initdb, "-D", data, "-U", "drs", "-A", "trust", "-E", "UTF8", "--no-sync"], **run)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        subprocess.run([pg_ctl, "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **run)
        try:
            address = {"host": str(folder), "user": "drs", "dbname": "postgres"}
            with psycopg.connect(**address, autocommit=True, prepare_threshold=None) as connection:
                yield connection
        finally:
            subprocess.run([pg_ctl, "-D", data, "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder):
    """Return a user for PostgreSQL, which does not run as root, and make that user the owner of the folder."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in known else "nobody"
    shutil.chown(folder, user)
    return user


def jpmml():
    """Return the Java backend of the JPMML evaluator."""
    if program("java") is None:
        report_missing("Java (java)", "on Debian: apt-get install default-jre-headless")
    from jpmml_evaluator.jpype import JPypeBackend

    return JPypeBackend()
