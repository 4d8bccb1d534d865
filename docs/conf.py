"""Settings of Sphinx. The pages are built by ``make docs``, without a connection."""

import os
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from sphinx_gallery.sorting import FileNameSortKey

from diverse_rule_sets import __version__

project = "diverse-rule-sets"
author = "The diverse-rule-sets developers"
project_copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "executed",
    "command_line",
    "docstrings",
    "repository_links",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "_templates", "data", "examples", "generated/commands.md"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["myst.header", "config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # the page of times loads scripts from other hosts
    "capture_repr": ("_repr_html_",),
    "min_reported_time": 10_000,
    "image_scrapers": ("matplotlib",),
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = f"diverse-rule-sets {release}"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "diverse-rule-sets"},
    "navbar_align": "left",
    "show_prev_next": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {page: [] for page in ("index", "start", "how_it_works", "comparison")}
