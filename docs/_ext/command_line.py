"""The reference of the command ``drs`` as Markdown, made from the program's own help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "generated" / "commands.md"


def reference() -> str:
    """Return the sections of all commands."""
    import typer

    from diverse_rule_sets.cli._app import app

    commands = typer.main.get_command(app).commands
    return "\n".join(_section(name, command) for name, command in commands.items())


def _section(name: str, command: Any) -> str:
    """Return the section of a command: what it does, its arguments, its options by group, its examples."""
    about, _, examples = (command.help or "").partition("[bold]Examples[/bold]")
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join([f"drs {name}", "[OPTIONS]", *(p.metavar for p in arguments)])
    lines = [f"## drs {name}", "", f"```\n{usage}\n```", "", _plain(about).strip(), ""]
    lines += _table("Argument", [(f"`{p.metavar}`", p) for p in arguments])
    for group in dict.fromkeys(p.rich_help_panel or "Options" for p in options):
        members = [p for p in options if (p.rich_help_panel or "Options") == group]
        lines += [f"**{group}**", "", *_table("Option", [(_names(p), p) for p in members])]
    shown = [line.strip() for line in (command.epilog or examples).replace("[bold]Examples[/bold]", "").splitlines()]
    if any(shown):
        lines += ["**Examples**", "", "```", *(_plain(line) for line in shown if line), "```", ""]
    return "\n".join(lines)


def _table(heading: str, rows: list[tuple[str, Any]]) -> list[str]:
    """Return a table of parameters and their help."""
    if not rows:
        return []
    texts = [f"| {names} | {_cell(p.help or '')}{' (required)' if p.required else ''} |" for names, p in rows]
    return [f"| {heading} | Meaning |", "| --- | --- |", *texts, ""]


def _names(option: Any) -> str:
    """Return the names of an option and of its value as code."""
    value = f" {option.metavar}" if option.metavar else ""
    return ", ".join(f"`{name}{value}`".replace("|", r"\|") for name in [*option.opts, *option.secondary_opts])


def _plain(text: str) -> str:
    """Return a text of the help without marks for colours."""
    return re.sub(r"(?<!\\)\[/?[a-z ]+\]", "", text).replace(r"\[", "[")


def _cell(text: str) -> str:
    """Return a text of the help for a cell of a table, with its special characters as they are."""
    return re.sub(r"([|*_<>`\[\]])", r"\\\1", _plain(" ".join(text.split())))


def _write(app: Any) -> None:
    """Write the reference before the pages are read."""
    TARGET.parent.mkdir(exist_ok=True)
    text = reference()
    if not TARGET.exists() or TARGET.read_text("utf8") != text:
        TARGET.write_text(text, "utf8")


def setup(app: Any) -> dict[str, Any]:
    """Write the reference at the start of a build."""
    app.connect("builder-inited", _write)
    return {"version": "1", "parallel_read_safe": True}
