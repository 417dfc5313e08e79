# SPDX-License-Identifier: Apache-2.0
"""Hierarchies: the tree of each variable, by digits, bands, groups or from a file; codes move between groups."""

from typing import Any

from reticent.base.errors import ParameterError, ReticentError
from reticent.jobs.hierarchy_view import bands_of, check_tree, moved, tree_text
from reticent.jobs.texts import write_text
from reticent.web.environment import shown_name
from reticent.web.parts import Cell, Column, Node, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText
from reticent.workbench import hierarchy_engine as engine
from reticent.workbench.project import Project, stamp_of, version_of

FIELDS = ("digits", "bands", "file", "groups", "move")
MOST_DRAWN = 600
"""Codes that can be ticked and dragged one by one."""


def show(visit: Visit[Project]) -> View | Go:
    """All trees, and the form of one variable."""
    return _shown(visit, "", "")


def _shown(visit: Visit[Project], field: str, wrong: str) -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    work = visit.works.ask(engine.trees, *_question(project), title="Reading the codes")
    schema, number = project.schema(), visit.sent.number("variable", visit.number("variable", -1))
    facts: dict[str, Any] = {
        "state": schema.read() if schema else None, "rows": None, "chosen": None, "number": number, "nodes": (), "wrong": wrong,
        "field": field, "sent": {name: visit.sent.get(name) for name in FIELDS}, "file": schema.name if schema else "",
        "boxes": (), "targets": (), "ticked": visit.sent.all("code"), "to": visit.sent.get("to"), "new": visit.sent.get("new"),
    }  # fmt: skip
    if work.done:
        names = project.names()
        found = work.value()
        facts["rows"] = _table(names, found, number)
        if 0 <= number < len(names) and names[number] in found:
            own = project.variables()[number].get("hierarchy")
            one = found[names[number]]
            facts |= {
                "chosen": {"name": names[number], **one},
                "nodes": _nodes(one["tree"]) if visit.show_values else (),
                **(_boxes(*_tree(one)) if visit.show_values else {}),
            }
            if not wrong:
                digits = own.get("digits", []) if isinstance(own, dict) else []
                named = {"digits": ", ".join(map(str, digits)), "file": own if isinstance(own, str) else ""}
                facts["sent"] = {**dict.fromkeys(FIELDS, ""), **named}
    return View(
        "hierarchies.html",
        facts,
        error=str(work.error or ""),
        work=work if work.running else None,
        status=422 if wrong else 200,
    )


def _question(project: Project) -> tuple[str, str, Any]:
    files = [one["hierarchy"] for one in project.variables() if isinstance(one.get("hierarchy"), str)]
    source, folder, stamp = project.data_question()
    return source, folder, (*stamp, *(stamp_of(project.folder / name) for name in files))


def _table(names: list[str], found: dict[str, dict[str, Any]], chosen: int) -> Table:
    columns = (
        Column("Variable"),
        Column("Codes in the data", num=True),
        Column("Levels below the total", num=True),
        Column("Codes at each level"),
    )
    rows = []
    for at, name in enumerate(names):
        if name not in found:
            continue
        tree = found[name]["tree"]
        levels = Cell(" · ".join(f"{n:,}" for n in tree["counts"])) if tree else Cell("no tree", muted=True)
        link = address("hierarchies", variable=at)
        rows.append(
            Row((
                Cell(shown_name(name, 60), href=link), Cell(f"{found[name]['n_codes']:,}"),
                Cell(str(tree["depth"]) if tree else "–"), levels,
            ), on=at == chosen)
        )  # fmt: skip
    return Table("Variables with codes and their trees", columns, tuple(rows))


def _nodes(tree: dict[str, Any] | None) -> tuple[Node, ...]:
    """The tree with its codes; only after "show values"."""
    if tree is None:
        return ()
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(tree["parents"]):
        below.setdefault(parent, []).append(node)

    def made(node: int) -> Node:
        inner = below.get(node, [])
        return Node(
            tree["codes"][node],
            f"{len(inner):,} codes" if inner else "",
            open=node == 0,
            below=tuple(made(one) for one in inner),
        )

    return tuple(made(node) for node in below.get(-1, []))


def _tree(one: dict[str, Any]) -> tuple[list[str], list[int]]:
    """The tree of a variable without its total; without a tree, all codes below the total."""
    if one["tree"] is None:
        return list(one["codes"]), [-1] * len(one["codes"])
    codes, parents = one["tree"]["codes"][1:], one["tree"]["parents"][1:]
    return list(codes), [parent - 1 for parent in parents]


def _boxes(codes: list[str], parents: list[int]) -> dict[str, Any]:
    """Each group that codes are in, with its codes; and every group that they can be moved to."""
    inner = {parent for parent in parents if parent >= 0}
    leaves: dict[int, list[tuple[int, str]]] = {}
    for node, parent in enumerate(parents):
        if node not in inner:
            leaves.setdefault(parent, []).append((node, codes[node]))
    if sum(map(len, leaves.values())) > MOST_DRAWN:
        return {}
    names = {-1: "directly below the total", **{node: codes[node] for node in sorted(inner)}}
    return {
        "boxes": [(node, names[node], leaves[node]) for node in names if node in leaves],
        "targets": list(names.items()),
    }


def act(visit: Visit[Project]) -> View | Go:
    """Give a variable a tree, or take it away; the schema file is changed."""
    project, sent = visit.state, visit.sent
    schema, number = project.schema(), sent.number("variable")
    names = project.names()
    if schema is not None and "history" in sent:
        schema.step(-1 if sent.get("history") == "undo" else 1, version=sent.get("version"))
        return Go(address("hierarchies", **visit.query))
    if schema is None or not 0 <= number < len(names):
        return Go(address("hierarchies"))
    field = next((name for name in FIELDS if f"by-{name}" in sent), "")
    try:
        value = _value(visit, names[number], number, field)
    except ReticentError as err:
        return _shown(visit, field, str(err))
    text = TomlText(schema.read().text)
    entry = {key: old for key, old in text.entries("variable")[number].items() if key != "hierarchy"}
    changed = text.set_entry("variable", number, {**entry, **({"hierarchy": value} if value else {})})
    schema.change(changed.text, version=sent.get("version"), what="hierarchy")
    return Go(address("hierarchies", variable=number))


def _value(visit: Visit[Project], name: str, number: int, field: str) -> Any:
    """What the schema says of the tree, checked against the codes; nothing takes the tree away."""
    sent = visit.sent
    if not field:
        return None
    if field in ("groups", "bands", "move"):
        return _made(visit, name, number, tree_text(*_asked_tree(visit, name, field)))
    written, file = sent.get("digits").replace(",", " ").split(), sent.get("file").strip()
    digits = tuple(int(one) for one in written if one.isascii() and one.isdigit())
    if field == "digits" and (not digits or len(digits) < len(written)):
        raise ParameterError("digits: must be whole numbers, the signs of each level from the left, as in 1, 2.")
    if field == "file" and not file:
        raise ParameterError("file: give the name of a .hrc, .csv or .toml file in the folder of the plan.")
    asked = (digits, "") if field == "digits" else ((), file)
    check_tree(_found(visit, name), visit.state.folder, name, *asked)
    return {"digits": list(digits)} if field == "digits" else file


def _asked_tree(visit: Visit[Project], name: str, field: str) -> tuple[list[str], list[int]]:
    """The tree that a form describes: groups as text, bands of numbers, or the present one with some codes moved."""
    sent = visit.sent
    if field == "groups":
        codes: list[str] = []
        parents: list[int] = []
        for line in (line for line in sent.get("groups").splitlines() if line.strip()):
            group, _, below = line.partition(":")
            inside = [code.strip() for code in below.split(",")]
            parents += [-1, *[len(codes)] * len(inside)]
            codes += [group.strip(), *inside]
        return codes, parents
    found = _found(visit, name)
    if field == "bands":
        return bands_of(found["codes"], _widths(sent.get("bands")))
    ticked = {int(one) for one in sent.all("code") if one.isascii() and one.isdigit()}
    return moved(*_tree(found), ticked, sent.number("to", -1), sent.get("new") if sent.get("to") == "new" else "")


def _found(visit: Visit[Project], name: str) -> dict[str, Any]:
    """What the page has read of a variable. Codes that are still being read are a sentence; the page shows how far that is."""
    work = visit.works.ask(engine.trees, *_question(visit.state), title="Reading the codes")
    found: dict[str, Any] = work.value().get(name, {"codes": [], "n_codes": 0, "tree": None})
    return found


def _widths(text: str) -> list[float]:
    try:
        return [float(one) for one in text.replace(";", ",").split(",") if one.strip()]
    except ValueError:
        return []


def _made(visit: Visit[Project], name: str, number: int, text: str) -> str:
    """A tree as a file, once it covers every code. Each tree has a file of its own, so that undo brings the earlier one back."""
    project = visit.state
    file = f"{project.stem}.{number + 1}.{version_of(text)[:6]}.hrc"
    trial = project.folder / f".{file}"
    try:
        write_text(trial, text)
        check_tree(_found(visit, name), project.folder, name, (), trial.name)
    finally:
        trial.unlink(missing_ok=True)
    write_text(project.folder / file, text)
    return file


def note(project: Project) -> Note:
    """How many variables have a tree."""
    n = sum(1 for one in project.variables() if one.get("hierarchy")) if project.ready else 0
    return Note("done", str(n)) if n else Note()


PAGE = Page("hierarchies", "Hierarchies", "Prepare", show, act, note)
