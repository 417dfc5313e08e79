"""Errors carry what they are about as data: below the doors no message is cut, searched or put together again from another's."""

import ast
from pathlib import Path

from architecture.parsed import tree_of

SOURCE = Path(__file__).resolve().parents[2] / "src" / "reticent"
DOORS = {"cli", "workbench", "web"}
"""They show messages: `cli/main.py` makes one line of one, for a terminal."""
CUTTING = {
    "removeprefix",
    "removesuffix",
    "replace",
    "split",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "strip",
    "find",
}
SEARCHING = {"search", "match", "fullmatch", "sub", "findall", "split"}


def _text_of(node: ast.AST, caught: set[str]) -> bool:
    """Whether an expression is the text of an error that was caught: str(err), err.args, err.reason."""
    for inner in ast.walk(node):
        named = (inner.args if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "str" else []) or (
            [inner.value] if isinstance(inner, ast.Attribute) and inner.attr in {"args", "reason"} else []
        )
        if any(isinstance(one, ast.Name) and one.id in caught for one in named):
            return True
    return False


def _cuts(tree: ast.Module) -> list[int]:
    """Lines that cut or search the text of an error, directly or by a name that it was given."""
    found: list[int] = []
    for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name):
        caught, texts = {str(handler.name)}, set()
        for node in ast.walk(handler):
            if isinstance(node, ast.Assign) and _text_of(node.value, caught):
                texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            if isinstance(node, ast.Attribute) and node.attr == "args" and ast.unparse(node.value) in caught:
                found.append(node.lineno)
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            whose, attribute = node.func.value, node.func.attr
            cut = attribute in CUTTING and (_text_of(whose, caught) or ast.unparse(whose) in texts)
            searched = attribute in SEARCHING and ast.unparse(whose) in {"re", "regex"}
            if cut or (searched and any(_text_of(one, caught) or ast.unparse(one) in texts for one in node.args)):
                found.append(node.lineno)
    return found


def test_no_message_is_cut_or_searched() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in DOORS
        for line in _cuts(tree_of(path))
    ]
    assert found == []


def test_a_cut_is_seen() -> None:
    for body in (
        "raise E(str(err).removeprefix('x'))",
        "text = str(err)\n    if text.startswith('x'): pass",
        "err.args = ()",
        "re.sub('a', 'b', str(err))",
        "raise E(err.reason.split(':')[0])",
    ):
        assert _cuts(ast.parse(f"try:\n    f()\nexcept E as err:\n    {body}\n")), body
    assert not _cuts(ast.parse("try:\n    f()\nexcept E as err:\n    raise err.at('x').as_kind(F)\n"))
