"""The directive ``run``: Python that is executed when the pages are built, with what it prints below it.

The blocks of a page share their variables, in the order of the page. They run in a temporary folder that holds the
tables of ``docs/data``. Warnings are errors, and an error stops the build, unless the block has the option ``raises``.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from page_code import CodeError, PageCode, is_aligned
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)


class Run(SphinxDirective):
    """Show code, execute it, and show what it prints and draws."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "figure": directives.unchanged_required,  # the text that describes the plot; the plot is shown
        "page": directives.unchanged_required,  # a HTML file that the code writes; it is shown in a frame
        "raises": directives.unchanged_required,  # the name of the error that the code raises
        "hide-code": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the code and of its output."""
        code = "\n".join(self.content)
        state = self.env.temp_data.setdefault("executed", PageCode())
        try:
            printed = state.execute(code, f"{self.env.docname}, line {self.lineno}", self.options.get("raises"))
        except CodeError as error:
            LOGGER.warning("%s", error, location=self.get_location())
            return []
        shown: list[nodes.Node] = []
        if "hide-code" not in self.options:
            shown.append(nodes.literal_block(code, code, language="python"))
        if printed:
            aligned = ["aligned"] if is_aligned(printed) else []
            shown.append(nodes.literal_block(printed, printed, language="none", classes=["printed", *aligned]))
        if "figure" in self.options:
            shown.append(self._figure(state))
        if "page" in self.options:
            shown.append(self._page(state))
        return shown

    def _target(self, suffix: str) -> Path:
        """Return a new file name below the folder of the built pages."""
        number = self.env.temp_data["executed"].next_number()
        name = self.env.docname.replace("/", "-")
        folder = Path(self.env.app.outdir) / "_executed"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}-{number}{suffix}"

    def _uri(self, target: Path) -> str:
        """Return the address of a file relative to the page."""
        return "../" * self.env.docname.count("/") + f"_executed/{target.name}"

    def _figure(self, state: PageCode) -> nodes.Node:
        """Save the current plot and return a node that shows it."""
        import matplotlib.pyplot as plt

        if not plt.get_fignums():
            LOGGER.warning("the code draws nothing", location=self.get_location())
        target = self._target(".png")
        plt.gcf().savefig(target, dpi=110, bbox_inches="tight")
        plt.close("all")
        text = nodes.Text(self.options["figure"]).astext().replace('"', "&quot;")
        return nodes.raw("", f'<img class="drawn" src="{self._uri(target)}" alt="{text}">', format="html")

    def _page(self, state: PageCode) -> nodes.Node:
        """Copy a page that the code has written and return a node that shows it in a frame."""
        target = self._target(".html")
        shutil.copy(state.folder / self.options["page"], target)
        address = self._uri(target)
        frame = f'<iframe class="page" src="{address}" title="report page" loading="lazy"></iframe>'
        link = f'<p><a href="{address}">Open this page in a window of its own</a></p>'
        return nodes.raw("", frame + link, format="html")


def setup(app: Any) -> dict[str, Any]:
    """Add the directive."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    app.add_directive("run", Run)
    return {"version": "1", "parallel_read_safe": True}
