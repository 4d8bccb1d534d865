"""Print the oldest supported version of each dependency, those of extras included, as constraints for pip."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("report", "cli", "files", "sql")

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf8"))["project"]
extras = project["optional-dependencies"]
pandas = [dependency for dependency in extras["dev"] if dependency.startswith("pandas")]  # tables of most users
for dependency in dict.fromkeys([*project["dependencies"], *pandas, *(one for name in EXTRAS for one in extras[name])]):
    name, oldest = re.fullmatch(r"([\w-]+)>=([\d.]+)", dependency).groups()
    print(f"{name}=={oldest}{'.*' if oldest.count('.') < 2 else ''}")
