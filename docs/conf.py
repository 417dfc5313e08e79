# SPDX-License-Identifier: Apache-2.0
"""Sphinx settings: builds without network."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

project = "reticent"
project_copyright = "the authors of reticent; Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "reticent"
html_static_path: list[str] = []
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
suppress_warnings = ["myst.xref_missing", "ref.python"]


def _for_every_reader(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """What scrolls can be reached by keyboard, and headings of the sidebar say their level, as WCAG asks."""
    for name in ("body", "furo_navigation_tree"):
        if isinstance(context.get(name), str):
            html = re.sub(r'<(pre|div class="table-wrapper[^"]*")>', r'<\1 tabindex="0">', context[name])
            context[name] = html.replace('role="heading">', 'role="heading" aria-level="2">')


def setup(app: Any) -> None:
    """Pages are mended after the theme made them."""
    app.connect("html-page-context", _for_every_reader, priority=900)
