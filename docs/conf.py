# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx's settings. ``make docs`` builds ``docs/_build/html`` from these files and the package's own declarations."""

from __future__ import annotations

import sys
from pathlib import Path

import astra_py

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_extensions"))

project = "astra-py"
copyright = "the authors of astra-py, GPL-2.0-only"
version = release = astra_py.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "declared", "docstrings", "elsewhere", "mathml"]
exclude_patterns = ["_build"]
# Every reference has to lead somewhere. What the package names of other libraries, `elsewhere` looks up in them.
nitpicky = True

# Markdown as forges read it: tables, $formulas$ and ```math blocks, links to headings.
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4

# What is printed has no language, on a forge as here.
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# A default is printed as it is written, not as its value.
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"astra-py {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# Pages are the same bytes whenever and wherever they are built, and ask no other server for anything.
html_last_updated_fmt = None
html_copy_source = False
html_show_sourcelink = False
