"""Sphinx settings: builds without network; the methods page is made from the dataclasses themselves."""

import dataclasses
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

project = "reticent"
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


def _methods_page() -> str:
    from reticent.microdata.mask import METHODS

    lines = ["# Masking methods", "", "Every method is one frozen dataclass; plan options are its fields.", ""]
    for name in sorted(METHODS):
        method = METHODS[name]
        doc = (method.__doc__ or "").strip().splitlines()
        lines += [f"## {name}", "", doc[0] if doc else "", "", "| option | default | what it is |", "|---|---|---|"]
        for field in dataclasses.fields(method):
            missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = (
                "required"
                if missing
                else ""
                if field.default in (None, dataclasses.MISSING, ())
                else f"`{field.default}`"
            )
            choices = field.metadata.get("choices")
            text = str(field.metadata.get("help", "")) + (f" One of {', '.join(map(str, choices))}." if choices else "")
            lines.append(f"| `{field.name}` | {default} | {text.replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def _write_pages(app: object) -> None:
    page = ROOT / "docs" / "reference" / "methods.md"
    text = _methods_page()
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_pages)  # type: ignore[attr-defined]
