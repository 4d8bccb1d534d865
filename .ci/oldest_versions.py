"""Print the oldest supported version of each dependency as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf8"))["project"]
for dependency in project["dependencies"]:
    name, oldest = re.fullmatch(r"([\w-]+)>=([\d.]+)", dependency).groups()
    parts = oldest.split(".")
    print(f"{name}=={oldest}{'.*' if len(parts) < 3 else ''}")
