"""The documentation: links, names, code. What takes long is done by `make docs`, which executes all code."""

import inspect
import re
from pathlib import Path

import pytest

import diverse_rule_sets
from tests.test_readme import load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *DOCS.glob("*.md"),
        *DOCS.glob("guide/*.md"),
        *DOCS.glob("data/*.md"),
        *ROOT.glob("*.md"),
        ROOT / "benchmarks/README.md",
    ]
)
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
links = load(DOCS / "_ext/repository_links.py")
command_line = load(DOCS / "_ext/command_line.py")
docstrings = load(DOCS / "_ext/docstrings.py")
page_code = load(DOCS / "_ext/page_code.py")
check_links = load(DOCS / "check_links.py")


WARNING = "import warnings; warnings.warn('careful')"


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def prose(text):
    """Return a page without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.DOTALL | re.MULTILINE))


def blocks(page):
    """Return (line, code, options) of the blocks that the build executes."""
    text = page.read_text("utf8")
    for match in re.finditer(r"^```\{run\}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        lines = match[1].splitlines()
        options = [line for line in lines if line.startswith(":")]
        yield text[: match.start()].count("\n") + 1, "\n".join(lines[len(options) :]), options


def anchors(path):
    """Return the anchors of the headings of a page, as GitHub and MyST form them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_files_lead_somewhere(page):
    """As seen in the repository; `gallery/` exists only when the pages are built."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text("utf8")))
    for target in targets:
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("gallery/") or "/gallery/" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(file), f"{name_of(page)} links to {target}"


def test_links_of_the_repository_become_links_of_the_site():
    text = "[a](docs/values.md#missing-values) [b](GLOSSARY.md) [c](Makefile) ![d](benchmarks/frontier.png) [e](https://x.org)"
    assert links.with_site_links(text, "", "guide/x") == (
        "[a](../values.md#missing-values) [b](../glossary.md) c ![d](../../benchmarks/frontier.png) [e](https://x.org)"
    )
    code = "```\nx[1](2)\n```\n"
    assert links.with_site_links(code, "docs", "x") == code


@pytest.mark.parametrize("file", links.PAGES)
def test_every_file_that_becomes_a_page_is_included(file):
    page = DOCS / f"{links.PAGES[file]}.md"
    assert (ROOT / file).exists()
    assert file == "README.md" or f"../{file}" in page.read_text("utf8")


def public_names():
    """Return every public name as the API reference writes it."""
    modules = ("metrics", "report", "baselines")
    yield from (name for name in diverse_rule_sets.__all__ if name not in modules)
    for module in modules:
        yield from (f"{module}:{name}" for name in getattr(diverse_rule_sets, module).__all__)


def test_every_public_name_is_in_the_api_reference_and_no_other():
    listed, module = [], ""
    for line in (DOCS / "api.md").read_text("utf8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1].removeprefix("diverse_rule_sets").removeprefix(".")
        elif re.fullmatch(r"   [\w.]+", line):
            listed.append(f"{module}:{line.strip()}" if module else line.strip())
    assert len(listed) == len(set(listed))
    assert set(listed) == {*public_names(), "cli.main"}


@pytest.mark.parametrize("name", list(public_names()))
def test_every_public_name_is_described(name):
    module, _, short = name.rpartition(":")
    target = getattr(getattr(diverse_rule_sets, module) if module else diverse_rule_sets, short)
    assert len(inspect.getdoc(target).splitlines()[0]) > 20


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=name_of)
def test_executed_blocks_compile(page):
    for line, code, options in blocks(page):
        compile(code, f"{name_of(page)}:{line}", "exec")
        names = {option.split(":")[1] for option in options}
        assert names <= {"figure", "page", "raises", "hide-code"}


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_gallery_examples_compile_and_end_in_a_picture_or_a_page(example):
    """Their code is executed by the build; here only that it is Python, has a title, and shows something."""
    text = example.read_text("utf8")
    compile(text, str(example), "exec")
    title, underline = text.splitlines()[1:3]
    assert len(underline) == len(title)
    assert set(underline) == {"="}
    last = text.split("# %%")[-1]
    assert re.search(r"Display\.|\.plot\(|report\.html|plt\.|\.barh?\(", last), "the last block shows nothing"


def test_there_are_at_least_ten_examples():
    assert len(EXAMPLES) >= 10


def test_the_tables_are_small_and_their_sources_are_named():
    tables = sorted((DOCS / "data").glob("*.csv"))
    about = (DOCS / "data/README.md").read_text("utf8")
    assert sum(table.stat().st_size for table in tables) <= 500_000
    rows = [line for line in about.splitlines() if line.startswith("| `")]
    assert [re.search(r"`(.*?)`", row)[1] for row in sorted(rows)] == [table.name for table in tables]
    assert all("CC BY 4.0" in row or "CC0 1.0" in row for row in rows)


def test_the_reference_of_the_command_line_has_every_option():
    import typer

    from diverse_rule_sets.cli._app import app

    text = command_line.reference()
    for name, command in typer.main.get_command(app).commands.items():
        section = text.split(f"## drs {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]
            for option in [*names, *parameter.secondary_opts]:
                assert f"`{option}" in section
    assert "[dim]" not in text
    assert "[bold]" not in text


def test_docstrings_are_changed_for_numpydoc():
    lines = [
        "Sum.",
        "",
        "Parameters",
        "----------",
        "a, b : numbers, or",
        "    None",
        "",
        "Examples",
        "--------",
        "x : y",
    ]
    changed = docstrings.with_descriptions(lines)
    assert changed == [*lines[:4], "a, b", "    numbers, or", *lines[5:]]


def test_blocks_of_a_page_share_variables_and_have_the_tables():
    page = page_code.PageCode()
    here = Path.cwd()
    assert page.execute("x = 6 * 7\nprint(x)", "page, line 1", None) == "42"
    assert (
        page.execute(
            "import pathlib; print(x, len(pathlib.Path('penguins.csv').read_text().splitlines()))", "page, line 5", None
        )
        == "42 345"
    )
    assert Path.cwd() == here
    assert page_code.PageCode().execute("print('x' in globals())", "other", None) == "False"


def test_errors_and_warnings_of_code_are_errors_unless_the_page_says_so():
    page = page_code.PageCode()
    assert page.execute("print(1)\nint('a')", "p", "ValueError").startswith("1\nValueError: invalid literal")
    for code, raises in (("1 / 0", None), ("1 / 0", "ValueError"), ("x = 1", "ValueError"), (WARNING, None)):
        with pytest.raises(page_code.CodeError):
            page.execute(code, "p", raises)


def test_printed_tables_are_told_from_rules():
    assert page_code.is_aligned("name   n\na      1\nb     22")
    assert not page_code.is_aligned("1. IF a > 3\n   THEN yes\nIf several rules cover a record, one decides.")


def test_check_links_finds_what_is_wrong(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text('<h1 id="here">A</h1><a href="b.html#x">b</a><a href="#here">a</a>', "utf8")
    (tmp_path / "b.html").write_text('<p id="x"></p><a href="a.html#gone">a</a><img src="no.png">', "utf8")
    n_links, wrong = check_links.problems(tmp_path)
    assert n_links == 4
    assert wrong == ["b.html: no anchor for the link a.html#gone", "b.html: no file for the link no.png"]
    monkeypatch.setattr(check_links, "MAX_BYTES", 10)
    assert len(check_links.problems(tmp_path)[1]) == 4


def test_the_extensions_are_found_by_the_settings():
    settings = (DOCS / "conf.py").read_text("utf8")
    for extension in (DOCS / "_ext").glob("*.py"):
        assert f'"{extension.stem}"' in settings or extension.stem == "page_code"
