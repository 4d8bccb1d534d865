"""Programs that tests start: found on the machine, or the test says why it cannot run. In CI they must be there."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def absent(what, how):
    """Skip, with the reason; in continuous integration fail instead."""
    reason = f"{what} was not found; {how}"
    if "CI" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)


def program(name, *folders):
    """Return where a program is: on the path, or in one of some folders (patterns); None if nowhere."""
    found = shutil.which(name)
    if found:
        return found
    places = sorted(str(place) for folder in folders for place in Path("/").glob(folder.lstrip("/")))
    return next((str(Path(place) / name) for place in reversed(places) if (Path(place) / name).exists()), None)


@contextlib.contextmanager
def postgres():
    """Start a PostgreSQL server of its own in a temporary folder, and give a connection to it."""
    import psycopg

    initdb, pg_ctl = (program(name, "/usr/lib/postgresql/*/bin") for name in ("initdb", "pg_ctl"))
    if not (initdb and pg_ctl):
        absent("a PostgreSQL server (initdb, pg_ctl)", "on Debian: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="drs-pg-"))
    user = _unprivileged(folder)
    run = {"user": user, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    try:
        data = folder / "data"
        subprocess.run([initdb, "-D", data, "-U", "drs", "-A", "trust", "-E", "UTF8", "--no-sync"], **run)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        subprocess.run([pg_ctl, "-D", data, "-o", options, "-l", folder / "log", "-w", "start"], **run)
        try:
            where = {"host": str(folder), "user": "drs", "dbname": "postgres"}
            with psycopg.connect(**where, autocommit=True, prepare_threshold=None) as connection:
                yield connection
        finally:
            subprocess.run([pg_ctl, "-D", data, "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder):
    """PostgreSQL refuses to run as root: return a user that may, and give the folder to that user."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in known else "nobody"
    shutil.chown(folder, user)
    return user


def jpmml():
    """Return the Java side of the JPMML evaluator, started once in this process."""
    if program("java") is None:
        absent("Java (java)", "on Debian: apt-get install default-jre-headless")
    from jpmml_evaluator.jpype import JPypeBackend

    return JPypeBackend()
