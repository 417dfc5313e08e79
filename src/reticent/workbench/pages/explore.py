# SPDX-License-Identifier: Apache-2.0
"""Explore: the lattice of generalisations, and candidates on a map of risk and loss; a point that is picked becomes the plan."""

from typing import Any

from reticent.base.errors import ReticentError
from reticent.jobs.explore_view import check_explore
from reticent.web.environment import shown_name
from reticent.web.figures import Point, scatter
from reticent.web.lattice import LatticeNode, lattice_figure
from reticent.web.parts import Cell, Column, Row, Table
from reticent.web.site import Go, Note, Page, View, Visit, address
from reticent.web.toml_text import TomlText, parse
from reticent.web.work import Work
from reticent.workbench import explore_engine as engine
from reticent.workbench.explore_plan import Asked, candidates_text, name_of
from reticent.workbench.project import Project

MOST_KEYS = 4
FIRST = """
[explore]
draws = 1
fresh = 1
most_risk = 0.05

[[candidate]]
method = "local-suppression"
"""


def show(visit: Visit[Project]) -> View | Go:
    """Lattice and map of the project."""
    return _shown(visit)


def _shown(visit: Visit[Project], text: str = "", wrong: str = "") -> View | Go:
    project = visit.state
    if not project.ready:
        return Go(address("data"))
    names = project.names("key")
    chosen = _chosen(visit, names)
    keys_wrong = _keys_wrong(visit, names, chosen)
    (k, k_wrong), (share, share_wrong) = visit.within("k", 3, 2, 1000), visit.within("share", 0, 0, 50)
    state = project.plan("explore")
    facts: dict[str, Any] = {
        "names": names, "chosen": chosen, "k": k, "share": share, "k_error": k_wrong, "share_error": share_wrong,
        "k_text": visit.query.get("k", k), "share_text": visit.query.get("share", share), "most_keys": MOST_KEYS,
        "keys_error": keys_wrong, "named": _named(project), "untouched": _untouched(project, chosen), "none_within": False,
        "lattice": None, "node": None, "map": None, "candidate": None, "most": None,
        "plan_version": project.need("file").read().version, "file": project.need("file").name,
        "now": state.read() if state else None, "text": text or (state.read().text if state else ""), "wrong": wrong,
        "explore_file": state.name if state else f"{project.stem}.explore.toml", "first": _first(project),
    }  # fmt: skip
    works = []
    if chosen and not keys_wrong and not k_wrong and not share_wrong:
        works.append(visit.works.ask(engine.lattice, *project.data_question(), tuple(names[at] for at in chosen), k, share / 100,
                                     title="Looking at the lattice"))  # fmt: skip
        if works[0].done:
            facts |= _lattice(visit, works[0].value(), facts)
    measured = visit.works.seen(engine.candidates, *project.plan_question("explore")) if state else None
    if measured is not None:
        works.append(measured)
        if measured.done:
            facts |= _map(visit, measured.value())
    error = next((str(one.error) for one in works if one.error), "")
    running = next((one for one in works if one.running), None)
    return View(
        "explore.html",
        facts,
        error=error,
        work=running,
        status=422 if wrong or keys_wrong or k_wrong or share_wrong else 200,
    )


def _named(project: Project) -> list[str]:
    """Identifiers that no step of the plan removes."""
    removing = [one.get("variables", []) for one in _steps(project) if one.get("method") == "remove-identifiers"]
    left = project.names("identifier")
    return [] if [] in removing else [name for name in left if not any(name in names for names in removing)]


def _untouched(project: Project, chosen: list[int]) -> list[str]:
    """Variables that are neither among the chosen keys nor in a step of the plan: records are linked by them as well."""
    names, keys = project.names(), project.names("key")
    touched = {keys[at] for at in chosen} | set(project.names("identifier"))
    for step in _steps(project):
        touched |= {
            str(step.get("variable", "")),
            *map(str, step.get("variables", [])),
            *map(str, step.get("keys", [])),
        }
    return [name for name in names if name not in touched]


def _steps(project: Project) -> list[dict[str, Any]]:
    return [one for one in project.table("file").get("step", []) if one.get("active", True) is not False]


def _first(project: Project) -> str:
    """A text to begin with: the plan's data, and the first candidates."""
    return TomlText("version = 1\n").set_section("data", project.source()).text + FIRST


def _chosen(visit: Visit[Project], names: list[str]) -> list[int]:
    asked = [
        int(one) for one in visit.query.get("keys", "").split(".") if one.isascii() and one.isdigit() and len(one) < 6
    ]
    ticked = [at for at in range(len(names)) if visit.query.get(f"key{at}") == "on"]
    return [at for at in dict.fromkeys([*asked, *ticked]) if at < len(names)]


def _keys_wrong(visit: Visit[Project], names: list[str], chosen: list[int]) -> str:
    """What is wrong with the keys that were asked for; nothing before anything was asked."""
    if len(chosen) > MOST_KEYS:
        return (
            f"keys: {len(chosen)} are ticked, at most {MOST_KEYS} can be drawn; choose those that say most of somebody."
        )
    if "k" in visit.query and names and not chosen:
        return "keys: tick at least one."
    return ""


def _link(facts: dict[str, Any], **other: Any) -> str:
    keys = ".".join(str(at) for at in facts["chosen"])
    return address("explore", keys=keys, k=facts["k"], share=facts["share"] or "", **other)


def _lattice(visit: Visit[Project], found: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Both drawings, and the node that is looked at: the asked one, else the safe one that loses least."""
    nodes, allowed = found["nodes"], found["allowed"]
    safe = [at for at, one in enumerate(nodes) if one["unsafe"] <= allowed]
    best = min(safe, key=lambda at: nodes[at]["loss"]) if safe else None
    number = visit.number("node", -1 if best is None else best)
    number = number if 0 <= number < len(nodes) else (best or 0)
    links = [_link(facts, node=at) for at in range(len(nodes))]
    words = [f"{one['unsafe']:,} records unsafe, {100 * one['loss']:.1f} % of the detail lost" for one in nodes]
    drawn = lattice_figure(
        f"Lattice of {len(nodes)} recodings: all detail at the bottom, one group at the top",
        [LatticeNode(tuple(one["node"]), at in set(safe), at == number, links[at], words[at]) for at, one in enumerate(nodes)],
    )  # fmt: skip
    whole = found["records"] or 1
    front = _front([(one["loss"], one["unsafe"] / whole) for one in nodes])
    plotted = scatter(
        "Unsafe records and detail lost, one point for each recoding",
        [Point(one["loss"], one["unsafe"] / whole, f"{name_of(one['node'])}: {words[at]}", links[at], at in set(safe),
               at == number)
         for at, one in enumerate(nodes)],
        x="detail lost (0 none, 1 all)", y="share of records unsafe", front=front, limit=allowed / whole if allowed else None,
    )  # fmt: skip
    one = nodes[number]
    return {
        "lattice": found, "drawn": drawn, "plotted": plotted, "n_safe": len(safe), "best": best, "number": number, "node": one,
        "node_safe": number in safe, "neighbours": _neighbours(nodes, number, links, found["keys"]), "levels": [
            (shown_name(key, 40), _raised(level, len({tuple(x["node"])[at] for x in nodes}) - 1))
            for at, (key, level) in enumerate(zip(found["keys"], one["node"], strict=True))
        ],
    }  # fmt: skip


def _raised(level: int, most: int) -> str:
    """What a level of the lattice, counted from the full detail, makes of a key."""
    return "as it is" if not level else "one group" if level == most else f"raised {level} of {most} levels"


def _front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other beats on both counts, from the least loss on."""
    front: list[tuple[float, float]] = []
    for one in sorted(points):
        if not front or one[1] < front[-1][1]:
            front.append(one)
    return front


def _neighbours(nodes: list[dict[str, Any]], number: int, links: list[str], keys: list[str]) -> Table:
    """The recodings one level away."""
    own, rows = nodes[number]["node"], []
    for at, one in enumerate(nodes):
        away = [place for place in range(len(own)) if own[place] != one["node"][place]]
        if len(away) == 1 and abs(own[away[0]] - one["node"][away[0]]) == 1:
            what = f"{shown_name(keys[away[0]], 30)} {'coarser' if one['node'][away[0]] > own[away[0]] else 'finer'}"
            rows.append(
                Row((Cell(what, href=links[at]), Cell(f"{one['unsafe']:,}"), Cell(f"{100 * one['loss']:.1f} %")))
            )
    columns = (Column("Change"), Column("Unsafe", num=True), Column("Detail lost", num=True))
    return Table("Recodings one level away, with unsafe records and detail lost", columns, tuple(rows))


def _map(visit: Visit[Project], found: dict[str, Any]) -> dict[str, Any]:
    points, number = found["points"], visit.number("candidate", -1)
    first = next((at for at, one in enumerate(points) if one["chosen"]), 0)
    number = number if 0 <= number < len(points) else first
    measured = [(at, one) for at, one in enumerate(points) if not one["failed"]]
    most = found["most"]
    rest = {key: value for key, value in visit.query.items() if key != "candidate"}
    links = [address("explore", **rest, candidate=at, anchor="map") for at in range(len(points))]
    drawn = scatter(
        "Risk and loss of the candidates",
        [Point(one["loss"], one["risk"],
               f"{shown_name(one['candidate'], 80)}: risk {100 * one['risk']:.2f} %, loss {one['loss']:.3g}",
               links[at], most is None or one["within"], at == number)
         for at, one in measured],
        x="loss (0 nothing lost, 1 everything)", y="risk (0 to 1)",
        front=sorted((one["loss"], one["risk"]) for _, one in measured if one["front"]), limit=most,
    ) if measured else None  # fmt: skip
    columns = (
        Column("Candidate"),
        Column("Risk", num=True),
        Column("Loss", num=True),
        Column("On the front"),
        Column("Verdict"),
    )
    rows = tuple(
        Row((
            Cell(shown_name(one["candidate"], 80), href=links[at]),
            Cell("–" if one["failed"] else f"{100 * one['risk']:.2f} %"), Cell("–" if one["failed"] else f"{one['loss']:.3g}"),
            Cell("yes" if one["front"] else "no", muted=True),
            _verdict(one, most),
        ), on=at == number)
        for at, one in enumerate(points)
    )  # fmt: skip
    return {
        "map": found, "map_drawn": drawn, "map_table": Table("Candidates", columns, rows), "candidate_number": number,
        "candidate": points[number] if points else None, "most": most,
        "none_within": most is not None and not any(one["within"] for _, one in measured),
    }  # fmt: skip


def _verdict(one: dict[str, Any], most: float | None) -> Cell:
    if one["failed"]:
        return Cell("failed", verdict="not judged", note=shown_name(one["failed"], 300))
    if one["not held"]:
        return Cell("not held", verdict="not held", note=shown_name(one["not held"], 300))
    if most is None:
        return Cell("no limit is stated", verdict="not judged")
    return Cell("within the limit", verdict="held") if one["within"] else Cell("above the limit", verdict="not held")


def act(visit: Visit[Project]) -> View | Go:
    """Measure candidates, or put a node, local recoding or a candidate into the plan."""
    sent = visit.sent
    if "text" in sent:
        return _measure(visit, sent.get("text").replace("\r\n", "\n"))
    if "candidate" in sent:
        measured = visit.works.ask(engine.candidates, *visit.state.plan_question("explore"), patience=1)
        if measured.running:  # a page that was opened long ago: the page shows the progress
            return Go(address("explore"))
        points, number = measured.value()["points"], sent.number("candidate")
        return _into_plan(visit, points[number]["steps"] if 0 <= number < len(points) else [], again=True)
    asked, work = _asked(visit)
    if not asked.keys:
        return Go(address("explore"))
    if "local" in sent:
        return _into_plan(visit, [asked.locally()])
    if ("node" in sent or "measure" in sent) and not work.running:
        found, number = work.value(), sent.number("node" if "node" in sent else "measure")
        if not 0 <= number < len(found["nodes"]):
            return Go(address("explore"))
        if "measure" in sent:
            return _measure(visit, candidates_text(visit.state, asked, found, number))
        one = found["nodes"][number]
        blanks = 0 < one["unsafe"] <= found["allowed"]
        return _into_plan(visit, asked.of_node(one["node"], found["trees"], blanks=blanks))
    return Go(address("explore", keys=sent.get("keys"), k=asked.k, share=asked.share or ""))


def _asked(visit: Visit[Project]) -> tuple[Asked, Work]:
    """The lattice that a form was made from."""
    project, sent = visit.state, visit.sent
    names = project.names("key")
    chosen = [int(one) for one in sent.get("keys").split(".") if one.isdigit() and int(one) < len(names)]
    asked = Asked(tuple(names[at] for at in chosen), sent.number("k", 3), sent.number("share", 0))
    return asked, visit.works.ask(
        engine.lattice, *project.data_question(), asked.keys, asked.k, asked.share / 100,
        title="Looking at the lattice",
    )  # fmt: skip


def _into_plan(visit: Visit[Project], steps: list[dict[str, Any]], *, again: bool = False) -> Go:
    """Steps at the end of the plan, or in place of those that it has."""
    state = visit.state.need("file")
    text = TomlText(state.read().text)
    while again and text.entries("step"):
        text = text.remove("step", 0)
    for step in steps:
        text = text.insert("step", len(text.entries("step")), step)
    state.change(
        text.text, version=visit.sent.get("version"), what="pick of a candidate" if again else "pick of a recoding"
    )
    return Go(address("plan"))


def _measure(visit: Visit[Project], text: str) -> View | Go:
    """Save the text of an exploration, and measure its candidates."""
    project = visit.state
    try:
        check_explore(parse(text, owner="exploration"), owner="exploration")
    except ReticentError as err:
        return _shown(visit, text, str(err))
    known = project.plan("explore") is not None
    state = project.need("explore")
    state.change(text, version=visit.sent.get("explore-version") if known else state.read().version, what="candidates")
    visit.works.ask(engine.candidates, *project.plan_question("explore"), title="Measuring the candidates", again=True)
    return Go(address("explore", **visit.query, anchor="map"))


def note(project: Project) -> Note:
    """Nothing is said before the page is opened."""
    return Note()


PAGE = Page("explore", "Explore", "File", show, act, note)
