"""The command line as a process of its own: pipes, signals, files that are whole, imports that are not made."""

import os
import pty
import re
import signal
import stat
import subprocess
import sys
import threading

import pytest

from diverse_rule_sets import Rule, RuleSet, __version__
from diverse_rule_sets.cli._errors import InputError
from diverse_rule_sets.cli._files import whole_file, write_text

COMMAND = [sys.executable, "-m", "diverse_rule_sets.cli"]
MODEL = RuleSet((Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1)).to_json()
ROWS = "age\n" + "".join(f"{k % 90}\n" for k in range(200_000))


TO_FIT = "x,z,y\n" + "".join(f"{k},{k * k % 31},{'ab'[k * k % 31 > 15]}\n" for k in range(20_000))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.json").write_text(MODEL)
    (tmp_path / "t.csv").write_text(ROWS)
    (tmp_path / "fit.csv").write_text(TO_FIT)
    return tmp_path


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Fit once to the end, so that the kernels that a fit needs are compiled and kept: an interrupt may be lost in it.

    Python calls the handler of a signal in whatever runs, and what a handler raises in one of the callbacks of LLVM is
    printed and forgotten.
    """
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "fit.csv").write_text(TO_FIT)
    subprocess.run([*COMMAND, "fit", "fit.csv", "-t", "y"], cwd=folder, capture_output=True, check=True)


def shell(line, folder):
    line = line.replace("drs ", " ".join(COMMAND) + " ")
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


def test_the_reader_of_a_pipe_may_go_away(files):
    done = shell("cat t.csv | drs predict m.json - | head -n 2; echo ${PIPESTATUS[1]}", files)
    assert (done.stdout, done.stderr) == ("label,rule\ngood,1\n141\n", "")


def test_exit_codes_and_one_line(files):
    assert shell("drs show m.json", files).returncode == 0
    for line, code in (("drs show t.csv", 1), ("drs shew m.json", 2)):
        done = shell(line, files)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
        assert done.stderr.startswith("drs: error: ")


def test_files_may_be_pipes(files):
    done = shell("drs predict <(cat m.json) <(head -n 3 t.csv) -o /dev/stdout --keep age | cat", files)
    assert done.stdout.splitlines()[0] == "age,label,rule"
    assert done.stdout.count("\n") == 3
    done = shell("cat t.csv | head -n 3 | drs predict m.json /dev/stdin", files)
    assert done.stdout.count("\n") == 3
    (files / "few.csv").write_text("age,y\n20,good\n50,bad\n")
    done = shell("drs report m.json few.csv -t y -o - | grep -c '<html'", files)
    assert (done.stdout, (files / "-").exists()) == ("1\n", False)
    done = shell("mkfifo q; timeout 60 cat q > page & drs report m.json few.csv -t y -o q; wait", files)
    assert "<html" in (files / "page").read_text()
    assert stat.S_ISFIFO((files / "q").stat().st_mode)
    assert shell("drs predict - - < m.json", files).returncode == 2
    done = shell("drs predict - t.csv -o - < m.json | wc -l", files)
    assert done.stdout == "200001\n"
    done = shell("mkfifo p.csv; cat p.csv > got & drs predict m.json t.csv -o p.csv; wait", files)
    assert done.returncode == 0
    assert (files / "got").read_text().count("\n") == 200_001
    assert stat.S_ISFIFO((files / "p.csv").stat().st_mode)


def on_a_terminal(line, folder):
    """Run a command whose messages go to a terminal; returns its exit code, its output, and what the terminal got."""
    leader, follower = pty.openpty()
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    got = []
    how = {"stderr": follower, "stdout": subprocess.PIPE, "text": True, "env": terminal}
    with subprocess.Popen(line, cwd=folder, **how) as process:
        os.close(follower)
        seen = threading.Thread(target=lambda: got.append(everything_from(leader)))
        seen.start()
        out, _ = process.communicate()
        seen.join()
    return process.returncode, out, got[0].decode()


def test_a_terminal_sees_a_bar_and_a_pipe_does_not(files):
    line = [*COMMAND, "fit", "fit.csv", "-t", "y", "--max-rules", "4", "-o", "out.json"]
    code, out, bar = on_a_terminal(line, files)
    assert code == 0
    assert "learning from all" in bar
    assert "done, " in bar
    assert out.startswith("1. IF ")
    assert "\x1b" not in out
    quiet = subprocess.run([*line, "--test-size", "0"], cwd=files, capture_output=True, text=True, check=True)
    assert quiet.stderr == "drs: warning: column 'x' counts the records, as an id would; leave it out with --drop 'x'\n"


@pytest.mark.parametrize("method", [[], ["--as-in-paper", "--n-candidates", "20"]])
def test_a_warning_during_a_fit_is_seen_beside_the_bar(files, method):
    """Word for word as without a bar, in lines of its own, whatever it quotes."""
    rows = "".join(f"{k * k % 31},n{k % 300},{'ab'[k * k % 31 > 15]}\n" for k in range(3000))
    (files / "many.csv").write_text("x,[red]c[/red],y\n" + rows)
    line = [*COMMAND, "fit", "many.csv", "-t", "y", "-o", "out.json", *method]
    code, out, bar = on_a_terminal(line, files)
    assert (code, out.startswith("1. IF ")) == (0, True)
    assert "learning from all" in bar
    piped = subprocess.run(line, cwd=files, capture_output=True, text=True, check=True)
    said = piped.stderr.splitlines()
    assert [words.startswith("drs: warning: column '[red]c[/red]' has 300 different") for words in said] == [True]
    lines = [part.strip() for part in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", bar)) if part.strip()]
    told = [words for words in lines if "learning from" not in words]  # without the bar; long lines are wrapped
    assert " ".join(told) == said[0]


def everything_from(leader):
    """Read a terminal until nobody writes to it any more."""
    pieces = []
    try:
        while piece := os.read(leader, 65536):
            pieces.append(piece)
    except OSError:  # how Linux says that the other side is closed
        return b"".join(pieces)
    finally:
        os.close(leader)
    return b"".join(pieces)


@pytest.mark.parametrize(
    ("number", "code", "words"), [(signal.SIGINT, 130, "drs: interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_stopped_fit_leaves_nothing_behind(files, compiled, number, code, words):
    (files / "out.json").write_text("the old model")
    before = {path.name for path in files.iterdir()}
    line = [*COMMAND, "fit", "fit.csv", "-t", "y", "-v", "-o", "out.json"]
    with subprocess.Popen(line, cwd=files, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for said in process.stderr:
            if said.startswith("learning from"):
                break
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, out) == (code, "")
    assert err.endswith(words)
    assert "Traceback" not in err
    assert (files / "out.json").read_text() == "the old model"
    assert {path.name for path in files.iterdir()} == before


def test_a_killed_writer_leaves_the_old_file(tmp_path):
    (tmp_path / "out.csv").write_text("old")
    code = (
        "import os, signal; from diverse_rule_sets.cli._files import whole_file\n"
        f"with whole_file({str(tmp_path / 'out.csv')!r}) as path:\n"
        "    path.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "out.csv").read_text() == "old"


def test_a_whole_file_has_the_rights_of_the_old_one_and_keeps_links(tmp_path):
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text("new", str(link))
    assert (target.read_text(), link.is_symlink()) == ("new", True)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    mask = os.umask(0o022)
    try:
        write_text("x", str(tmp_path / "fresh.txt"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh.txt").stat().st_mode) == 0o644
    with pytest.raises(TypeError, match="must be str"), whole_file(str(target)) as path:
        path.write_text(5)
    assert target.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh.txt", "link.txt", "real.txt"]
    with pytest.raises(InputError, match="there is no folder"):
        write_text("x", str(tmp_path / "no" / "x"))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("drs predict m.json t.csv -o /dev/full", "/dev/full"),
        ("drs export m.json --to sql -o /dev/full", "/dev/full"),
        ("drs fit few.csv -t y -o /dev/full", "/dev/full"),
        ("drs report m.json few.csv -t y -o /dev/full", "/dev/full"),
        ("drs predict m.json t.csv > /dev/full", "the standard output"),
        ("drs show m.json > /dev/full", "the standard output"),
    ],
)
def test_a_full_disk_is_one_line(files, line, name):
    (files / "few.csv").write_text("age,y\n" + "20,good\n50,bad\n" * 20)
    done = shell(line, files)
    assert (done.returncode, done.stderr) == (1, f"drs: error: cannot write {name}: No space left on device\n")


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_a_file_that_grows_too_large_is_not_left_behind(files, ending):
    rows = "".join(f"{k % 90},{k * 7919 % 100_003 / 7}\n" for k in range(20_000))
    (files / "x.csv").write_text("age,x\n" + rows)
    done = shell(f"ulimit -f 4; drs predict m.json x.csv --keep x -o out.{ending}", files)
    assert (done.returncode, done.stderr) == (1, f"drs: error: cannot write out.{ending}: File too large\n")
    assert not [path.name for path in files.iterdir() if "out" in path.name]


def test_the_reader_of_a_named_pipe_may_go_away(files):
    done = shell("mkfifo p; head -n 1 p > got & drs predict m.json t.csv -o p; echo $?; wait", files)
    assert (done.stdout, done.stderr) == ("141\n", "")


def labels_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_help_waits_for_no_large_package():
    said = labels_of(
        "import sys; from diverse_rule_sets.cli import main\n"
        "main(['fit', '--help']); main(['--version'])\n"
        "print([name for name in ('numpy', 'polars', 'sklearn', 'numba', 'pandas') if name in sys.modules])\n"
    )
    assert said.endswith(f"drs {__version__}\n[]\n")


def test_prediction_waits_for_no_scikit_learn(files):
    said = labels_of(
        "import sys; from diverse_rule_sets.cli import main\n"
        f"main(['predict', {str(files / 'm.json')!r}, {str(files / 't.csv')!r}, '-o', {str(files / 'p.csv')!r}])\n"
        "print([name for name in ('sklearn', 'numba', 'pandas') if name in sys.modules])\n"
    )
    assert said == "[]\n"


@pytest.mark.parametrize("absent", ["typer", "rich", "polars"])
def test_without_the_extra_one_line_says_what_to_install(absent):
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {absent!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from diverse_rule_sets.cli import main\n"
        "sys.exit(main(['--version']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "drs: error: the command line needs an extra: pip install 'diverse-rule-sets[cli]'\n"
