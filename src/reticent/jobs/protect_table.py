"""The job that protects a table: tabulate, judge, protect, attack, release. Nothing exposed is written unasked."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_choice, check_integer
from reticent.base.errors import InfeasibleError, NotProtectedError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.published_table import PublishedTable
from reticent.data.response_relations import COUNT
from reticent.data.table import Table, TableSpec
from reticent.data.table_plan import BoundsOptions, Insiders, ProtectSection, TablePlan, named_after, read_table_plan
from reticent.io.atomic import write_text
from reticent.io.places import check_places, inputs_of
from reticent.jobs.table_inputs import linked_table
from reticent.tables.apriori import Entry, Knowledge
from reticent.tables.attack import Audit
from reticent.tables.attack.inside import InsideAudit, audit_inside
from reticent.tables.attack.insiders import Insider
from reticent.tables.attack.insiders import insiders as find_insiders
from reticent.tables.attack.sums import published_sums
from reticent.tables.cell_keys import fit_to_method
from reticent.tables.earlier import check_earlier, with_earlier
from reticent.tables.inputs import build_problem, room_notes
from reticent.tables.joint import (
    Joint,
    Judged,
    stacked_outcomes,
    with_differences,
    without_differences,
)
from reticent.tables.judge import LinkedTable, judge_linked
from reticent.tables.methods import (
    TABLE_METHODS,
    CellDraws,
    CellKey,
    KeyedMethod,
    Outcome,
    PrimaryOnly,
    TableMethod,
    attack,
    caveat_of,
)
from reticent.tables.perturb.secrets import secret_for, secret_notes
from reticent.tables.previous import hidden_before
from reticent.tables.problem import SuppressionProblem
from reticent.tables.release import as_published, mean_table
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Rule
from reticent.tables.sum_judge import judged_sums
from reticent.tables.suppression.method import SuppressionMethod
from reticent.tabulation.linked import System
from reticent.tabulation.tabulate import with_empty_cells

MAX_LISTED = 10
_INSIDE_SHARE = 0.25  # of the time for the search, what the attack from inside may take where it only informs
DEFAULT_METHOD = "heuristic"
SUMS_NOT_JUDGED = (
    "Not judged: whether one respondent stands in several hidden cells whose sum follows from the published ones; "
    "a finished table does not say who is in a cell."
)
Mask = NDArray[np.bool_]


def protect_table(
    data: Microdata | Table | Sequence[Table],
    spec: TableSpec | Sequence[TableSpec] | None = None,
    *,
    rules: Sequence[Rule] = (),
    method: TableMethod | None = None,
    bounds: BoundsOptions | None = None,
    cost: str = "value",
    a_priori: Sequence[Entry] = (),
    time_limit: float = 60.0,
    accept_exposed: bool = False,
    zeros: bool = False,
    hide_empty: bool = False,
    earlier: Mapping[int, PublishedTable] | None = None,
    previous: Mapping[int, PublishedTable] | None = None,
    insiders: Insiders = "exact",
    coalition: int = 1,
    relations: Sequence[str] = (),
    find_relations: bool = True,
    secret: Secret | int | bytes | Path | str | None = None,
    test_secret: bool = False,
    progress: Progress = silent,
) -> ProtectedTable:
    """Protect a table, or several linked ones, and attack the result.

    Tables of several responses are one system if something relates these: what `relations` say ("tot = dom + exp",
    "exp <= tot"), and what the data show by themselves (unless `find_relations` is false).

    `data` is microdata with a `spec` (or several), or finished tables; the `method` is `heuristic` unless given. If the
    attacker finds exposed cells the result is refused (`NotProtectedError`), unless `accept_exposed`. Tables published
    before are given with the others, and in `earlier`, by their number, what was published of them. `previous` has, by
    number, the same tables of an earlier period: what was hidden then is preferred now. No respondent alone in a cell, nor
    a `coalition` of so many, finds another unsafe cell exactly; with `insiders="protect"` none comes closer to it than its
    levels; `inside` says how closely they come. With `hide_empty` a suppression method may also hide cells without
    respondents, and nobody can tell them from the others. A `secret` that can be guessed is refused, unless `test_secret`
    says that the result is never released.
    """
    chosen, given = method or TABLE_METHODS[DEFAULT_METHOD](), bounds or BoundsOptions()
    secret = secret_for(chosen, secret, test=test_secret)
    options = ProtectSection(
        cost=cost, time_limit=time_limit, insiders=insiders, coalition=coalition, hide_empty=hide_empty
    )

    def make(specs: Sequence[TableSpec] | None) -> list[LinkedTable]:
        return _tables(data, specs, rules, zeros or hide_empty, chosen, secret, part(progress, 0.0, 0.3))

    specs = [spec] if isinstance(spec, TableSpec) else None if spec is None else list(spec)
    check_integer(coalition, minimum=1, maximum=4, name="coalition", owner="protect_table")
    # who joins must be known by name
    specs = None if specs is None else [replace(one, top=max(one.top, coalition)) for one in specs]
    if relations or _several(data, specs):
        from reticent.jobs.response_tables import protect_several

        if a_priori:
            raise PlanError("protect_table: a-priori entries name cells of one response; use a plan for several.")
        result = protect_several(
            data if isinstance(data, Microdata) else None, specs, make, relations=relations, find=find_relations,
            method=chosen, bounds=given, options=options, earlier=earlier or {}, previous=previous or {},
            secret=secret, notes=secret_notes(secret), progress=part(progress, 0.3, 1.0),
        )  # fmt: skip
    else:
        system, knowledge = judge_linked(make(specs), a_priori)
        result = run_tables(
            system, knowledge, method=chosen, bounds=given, cost=cost, earlier=earlier, previous=previous,
            time_limit=time_limit, insiders=insiders, coalition=coalition, secret=secret,
            hide_empty=hide_empty, notes=secret_notes(secret), progress=part(progress, 0.3, 1.0),
        )  # fmt: skip
    refuse_exposed(result, accept_exposed=accept_exposed)
    return result


def _several(data: Microdata | Table | Sequence[Table], specs: Sequence[TableSpec] | None) -> bool:
    """Whether tables of several responses are asked for."""
    listed: Sequence[Table | TableSpec] = (specs or ()) if isinstance(data, Microdata | Table) else data
    return len({one.response for one in listed}) > 1


def _tables(
    data: Microdata | Table | Sequence[Table],
    specs: Sequence[TableSpec] | None,
    rules: Sequence[Rule],
    zeros: bool,
    method: TableMethod | None,
    secret: Secret,
    progress: Progress,
) -> list[LinkedTable]:
    judged = tuple(rules)
    if not isinstance(data, Microdata):
        made = [data] if isinstance(data, Table) else list(data)
        return [LinkedTable(with_empty_cells(table) if zeros else table, judged) for table in made]
    if specs is None:
        raise PlanError("protect_table: microdata need a spec that says which table to make.")
    # beside sums, counts are judged by the rules that need no contributions
    several = len({one.response for one in specs}) > 1
    counted = tuple(rule for rule in judged if not several or rule.needs_top == 0)
    fitted = [fit_to_method(fit_to_rules(one, rules), method) for one in specs]
    return [
        linked_table(
            data, one, method, secret, rules=counted if one.response is None else judged, zeros=zeros,
            marked=len(specs) > 1, progress=progress,
        )
        for one in fitted
    ]  # fmt: skip


def fit_to_rules(spec: TableSpec, rules: Sequence[Rule]) -> TableSpec:
    """The same table with as many of the largest contributions as the rules look at."""
    top = max([spec.top, *(rule.needs_top for rule in rules)])
    return replace(spec, top=top, by_record=spec.by_record or any(rule.unit == "record" for rule in rules))


def run_tables(
    system: System,
    knowledge: Knowledge,
    *,
    method: TableMethod,
    bounds: BoundsOptions,
    cost: str,
    earlier: Mapping[int, PublishedTable] | None = None,
    previous: Mapping[int, PublishedTable] | None = None,
    time_limit: float = 60.0,
    insiders: str = "exact",
    coalition: int = 1,
    secret: Secret | int | bytes | Path | str | None = None,
    hide_empty: bool = False,
    notes: Sequence[str] = (),
    progress: Progress = silent,
) -> ProtectedTable:
    """Protect and attack tables that have been judged (`judge_linked`); nothing is refused here."""
    progress(0.0, "judging the cells")
    check_earlier(earlier or {}, len(system.parts))
    judged = judged_tables(
        system, knowledge, bounds=bounds, cost=cost, earlier=earlier, method=method, hide_empty=hide_empty
    )
    said = (*notes, *room_notes(system.table, judged.problem, judged.knowledge, bounds))
    return protect_judged(
        judged, method=method, preferred=hidden_before(system, previous or {}), time_limit=time_limit, insiders=insiders,
        coalition=coalition, secret=secret, notes=said, earlier=frozenset(earlier or {}), progress=progress,
    )  # fmt: skip


def judged_tables(
    system: System,
    knowledge: Knowledge,
    *,
    bounds: BoundsOptions,
    cost: str,
    method: TableMethod,
    earlier: Mapping[int, PublishedTable] | None = None,
    hide_empty: bool = False,
) -> Judged:
    """The tables of one response with their problem; what was published earlier is known.

    The method says whether empty cells can be told apart: those that exchange values publish every 0 alike.
    """
    hides = isinstance(method, SuppressionMethod | PrimaryOnly)
    if hide_empty and not hides:
        raise PlanError(f"hide_empty: the method {method.name} hides no cells; use a suppression method.")
    known = with_earlier(system, knowledge, earlier or {})
    problem = build_problem(
        system.table, system.relations, known, bounds=bounds, cost=cost, hide_empty=hide_empty, exchanged=not hides
    )
    return Judged(system, known, replace(problem, judge=judged_sums(system, known.verdict.rules)))


def protect_judged(
    judged: Judged,
    *,
    method: TableMethod,
    preferred: Mask | None,
    time_limit: float,
    insiders: str,
    coalition: int,
    secret: Secret | int | bytes | Path | str | None,
    notes: Sequence[str],
    earlier: frozenset[int],
    joint: Joint | None = None,
    shown: tuple[int, ...] | None = None,
    progress: Progress = silent,
) -> ProtectedTable:
    """Protect and attack what has been judged: the tables of one response, or the whole of a joint system."""
    check_choice(insiders, get_args(Insiders), name="insiders", owner="protect_table")
    check_integer(coalition, minimum=1, maximum=4, name="coalition", owner="protect_table")
    if (insiders == "protect" or coalition > 1) and not isinstance(method, SuppressionMethod | PrimaryOnly):
        asked = 'insiders = "protect"' if insiders == "protect" else f"coalition = {coalition}"
        raise PlanError(
            f"{asked}: the method {method.name} hides no cells and keeps nothing from insiders; use a suppression method."
        )
    judged = replace(
        judged, problem=replace(judged.problem, insider_levels=insiders == "protect", coalition=coalition)
    )  # fmt: skip
    parts = (judged,) if joint is None else joint.parts
    system, knowledge, problem = judged.system, judged.knowledge, judged.problem
    options = {"secret": secret_for(method, secret, test=True).child(method.name), "time_limit": time_limit}
    more = _preferred(method, preferred)
    try:
        outcome = _protected(judged, joint, method, part(progress, 0.1, 0.7), {**options, **more})
    except InfeasibleError as err:
        raise _with_names(err, system.table) from err
    seen = as_published(system, outcome, method.name, problem)
    found = attack(seen, outcome, progress=part(progress, 0.7, 1.0))
    sums = () if outcome.values is not None else published_sums(problem, outcome.hidden)
    known = all(one.system.table.is_count or one.problem.respondent is not None for one in parts)
    alone, inside = _from_inside(problem, outcome, insiders, coalition, known, time_limit, progress)
    said: tuple[str, ...] = (*notes, *system.table.notes, *knowledge.notes)
    if outcome.values is None and not system.table.from_records:
        said += (SUMS_NOT_JUDGED,)
    if outcome.values is None and not found.exact:
        said += ("The table is large: ends of intervals are what was proved reachable, not the exact ends.",)
    caveat = caveat_of(method, counts=all(one.system.table.is_count for one in parts))
    said += (caveat,) if caveat else ()
    if not outcome.additive:
        said += (noise_note(found, problem),)
    progress(1.0, "done")
    told = found if joint is None else without_differences(found, joint)
    return ProtectedTable(
        system, knowledge, problem, outcome, told, method.name, tuple(dict.fromkeys(said)), alone, inside, earlier,
        joint=joint, shown=shown, sums=sums, asked_inside=insiders,
    )  # fmt: skip


def _protected(
    judged: Judged, joint: Joint | None, method: TableMethod, progress: Progress, options: Mapping[str, Any]
) -> Outcome:
    """The outcome of a method. Noise belongs to the cells of each response; what is not hidden has no differences."""
    if joint is not None and isinstance(method, CellDraws):  # responses that add up still add up
        bound = method.for_tables([one.system.table for one in joint.parts])
        return with_differences(bound.protect(joint.exact.problem, progress=progress, **options), joint)
    if isinstance(method, KeyedMethod):
        parts = (judged,) if joint is None else joint.parts
        outcomes = [
            method.for_table(one.system.table).protect(one.problem, progress=progress, **options) for one in parts
        ]
        return outcomes[0] if joint is None else with_differences(stacked_outcomes(outcomes), joint)
    if joint is None or isinstance(method, SuppressionMethod | PrimaryOnly):
        return method.protect(judged.problem, progress=progress, **options)
    return with_differences(method.protect(joint.exact.problem, progress=progress, **options), joint)


def _preferred(method: TableMethod, before: Mask | None) -> dict[str, Any]:
    """What a suppression method takes of the previous period; other methods hide nothing and cannot prefer."""
    if before is None:
        return {}
    if not isinstance(method, SuppressionMethod):
        raise PlanError(f"previous: the method {method.name} does not choose cells to hide; use a suppression method.")
    return {"earlier": before}


def _from_inside(
    problem: SuppressionProblem,
    outcome: Outcome,
    asked: str,
    coalition: int,
    known: bool,
    time_limit: float,
    progress: Progress,
) -> tuple[tuple[Insider, ...], InsideAudit]:
    """Who finds another cell exactly, and how closely respondents and coalitions of them come.

    Where nobody is kept from levels, looking takes no longer than a part of the search.
    """
    if outcome.values is not None:
        return (), InsideAudit(coalition, True, 0, 0, (), judged=False)
    alone = tuple(find_insiders(problem, outcome.hidden))
    closer = audit_inside(
        problem, outcome.hidden, coalition=coalition, progress=part(progress, 0.95, 1.0),
        time_limit=time_limit if asked == "protect" else _INSIDE_SHARE * time_limit,
    )  # fmt: skip
    return alone, replace(closer, judged=known)


def noise_note(found: Audit, problem: SuppressionProblem) -> str:
    """What the attacker makes of noisy values, in words."""
    words = "The published values do not add up. "
    if len(found.cells) < problem.n_cells:
        return words + "The table is large: only its unsafe cells were attacked by the relations of all cells."
    known = int((found.high - found.low <= problem.tolerance).sum())
    return words + (
        f"Who knows the noise rules and combines all cells determines {known} of {problem.n_cells} true values exactly."
    )


def _with_names(err: InfeasibleError, table: Table) -> InfeasibleError:
    """The error with cells by their codes, as the owner of the table knows them, instead of their numbers."""

    def named(found: re.Match[str]) -> str:
        return found.group(1) + ", ".join(table.name_of(int(cell)) for cell in found.group(2).split(", "))

    text = re.sub(r"(\bcells |hidden: )(\d+(?:, \d+)*)", named, str(err)) if err.cells else str(err)
    return InfeasibleError(text, cells=err.cells, blocking=err.blocking)


def refuse_exposed(result: ProtectedTable, *, accept_exposed: bool) -> None:
    """Raise if the attacker found exposed cells and that was not accepted beforehand."""
    whole = result.whole or result
    exposed = whole.exposed
    if not exposed or accept_exposed:
        return
    named = ", ".join(whole.table.name_of(cell) for cell in exposed[:3])
    more = f" and {len(exposed) - 3} more" if len(exposed) > 3 else ""
    raise NotProtectedError(
        f"table: the attacker recovers {len(exposed)} cells too closely ({named}{more}), so nothing was written. "
        "Choose a method that protects them, or say accept_exposed = true.",
        exposed=len(exposed),
    )


def method_from_plan(plan: TablePlan) -> TableMethod:
    """The method that `[protect]` names, with its options."""
    name = plan.protect.method or DEFAULT_METHOD
    chosen = TABLE_METHODS[name]
    if "power" in plan.protect.options:
        raise PlanError('[protect]: write the power behind the cost instead, e.g. cost = "value^0.5".')
    made: TableMethod = build(chosen, plan.protect.options, owner=f"[protect] (method {name})")
    if isinstance(made, CellKey):
        made = made.with_files(plan.find)
    return made


def audit_plan(
    path: Path,
    *,
    response: str | None = None,
    insiders: str | None = None,
    coalition: int | None = None,
    progress: Progress = silent,
) -> ProtectedTable:
    """Run a table plan up to the attack; nothing is written and nothing refused.

    `response` names one of several; `insiders` and `coalition` take the place of what the plan says.
    """
    plan = read_table_plan(path)
    chosen = one_response(plan, response)
    results = audit_plans(path, insiders=insiders, coalition=coalition, progress=progress)
    return results[plan.by_response().index(chosen)]


def audit_plans(
    path: Path, *, insiders: str | None = None, coalition: int | None = None, progress: Progress = silent
) -> tuple[ProtectedTable, ...]:
    """The same for every response of a plan, in its order."""
    from reticent.jobs.response_tables import run_plans

    plan = read_table_plan(path)
    # without a method the pattern that the plan and its tables declare is attacked as it stands
    declared = PrimaryOnly.name if plan.protect.method is None and not plan.protect.options else None
    given: dict[str, Any] = {"insiders": insiders, "coalition": coalition, "method": declared}
    protect = replace(plan.protect, **{name: value for name, value in given.items() if value is not None})
    return run_plans(replace(plan, protect=protect), progress=progress)


def write_certificate(result: ProtectedTable, path: Path) -> tuple[int, ...]:
    """Write a proof of the pattern in integers, for `reticent verify`; the unsafe cells it could not prove."""
    proof = result.certificate()
    write_text(path, proof.to_text())
    return proof.unproved


def secret_of_plan(plan: TablePlan, method: TableMethod) -> Secret:
    """The secret that a plan names, for its method."""
    given = plan.data.secret
    return secret_for(method, plan.find(given) if isinstance(given, str) else given, test=plan.data.test_secret)


def run_table_plan(path: Path, *, progress: Progress = silent) -> ProtectedTable:
    """Read a plan of one response, protect the tables it describes, and write what it asks for."""
    return run_table_plans(one_response(read_table_plan(path)), progress=progress)[0]


def run_table_plans(plan: TablePlan, *, progress: Progress = silent) -> tuple[ProtectedTable, ...]:
    """One result for each response of a plan; what they write appears together or not at all."""
    from reticent.io.write import write_texts
    from reticent.jobs.response_tables import run_plans

    plans = plan.by_response()
    for one in plans:
        output = one.output
        if not any((output.path, output.public_report, output.report, output.summary)):
            raise PlanError("[output] names no file; give at least path, report or summary.")
        _check_outputs(one)
    if any(section.means for section in plan.tables):
        check_means(plan, plans)
    results = run_plans(plan, progress=progress)
    texts: dict[Path, str] = {}
    for one, result in zip(plans, results, strict=True):
        refuse_exposed(result, accept_exposed=one.protect.accept_exposed)
        texts.update(_texts(one, result))
    texts.update(_means(plans, results))
    write_texts(texts)
    return results


def _means(plans: Sequence[TablePlan], results: Sequence[ProtectedTable]) -> dict[Path, str]:
    """Tables of means, where the plan asks for them, made of what is published."""
    from reticent.io.published import published_text

    tables = {_response_of(one): result.published for one, result in zip(plans, results, strict=True)}
    texts: dict[Path, str] = {}
    for one in plans:
        own = tables[_response_of(one)]
        for name, total, count in zip(_mean_names(one, len(own)), own, tables.get(COUNT, ()), strict=False):
            texts[one.find(name)] = published_text(mean_table(total, count))
    return texts


def _mean_names(plan: TablePlan, n_tables: int) -> list[str]:
    """The files of the means of one response: table-turnover-mean.csv."""
    if not plan.output.path or _response_of(plan) == COUNT or not any(section.means for section in plan.tables):
        return []
    own = str(named_after(Path(plan.output.path), "mean"))
    return [_numbered(own, number, n_tables) for number in range(1, n_tables + 1)]


def check_means(plan: TablePlan, plans: Sequence[TablePlan]) -> None:
    """Means need the counts in every table: with a sum, a mean gives the count away."""
    shapes = {_response_of(one): [section.dimensions for section in one.tables] for one in plans}
    whole = COUNT in shapes and all(shape == shapes[COUNT] for shape in shapes.values())
    if not whole or len(shapes) < 2 or any(s.released or s.finished or s.response for s in plan.tables):
        raise PlanError(
            '[table]: means = true needs responses with "count" among them in every table, because a mean and its sum give '
            'the count. Write for example responses = ["turnover", "count"].'
        )


def _response_of(plan: TablePlan) -> str:
    first = plan.tables[0]
    return first.response or (first.finished.value if first.finished else "count")


def one_response(plan: TablePlan, response: str | None = None) -> TablePlan:
    """The plan of one response; which one must be said if there are several."""
    plans = {_response_of(one): one for one in plan.by_response()}
    if response is None and len(plans) == 1:
        return next(iter(plans.values()))
    if response is None:
        raise PlanError(f"[table]: the plan has several responses; name one of {', '.join(plans)} (--response).")
    check_choice(response, tuple(plans), name="response", owner="[table]")
    return plans[response]


def _texts(plan: TablePlan, result: ProtectedTable) -> dict[Path, str]:
    """The publishable tables and the reports that the plan names, by their places; linked tables get a number each."""
    from reticent.io.published import published_text
    from reticent.report.table_report import confidential_table_report, public_table_report

    output, released = plan.output, result.published
    texts: dict[Path, str] = {}
    for number, table in enumerate(released, start=1):
        if output.path:
            texts[plan.find(_numbered(output.path, number, len(released)))] = published_text(table)
        if output.public_report:
            texts[plan.find(_numbered(output.public_report, number, len(released)))] = public_table_report(table)
    if output.report:
        texts[plan.find(output.report)] = confidential_table_report(result)
    if output.summary:
        texts[plan.find(output.summary)] = json.dumps(result.summary(), indent=2) + "\n"
    return texts


def written_names(plan: TablePlan, result: ProtectedTable) -> list[tuple[str, str]]:
    """What a plan of one response wrote: whether a file may leave, and its name as the plan has it."""
    return _written(plan, len(result.published))


def _written(plan: TablePlan, n: int) -> list[tuple[str, str]]:
    output = plan.output
    public = [name for name in (output.path, output.public_report) if name]
    names = [("publishable", _numbered(name, number, n)) for name in public for number in range(1, n + 1)]
    names += [("publishable", name) for name in _mean_names(plan, n)]
    return names + [("confidential", name) for name in (output.report, output.summary) if name]


def _check_outputs(plan: TablePlan) -> None:
    """What could keep a result from being written is found before the work starts."""
    output = plan.output
    if output.path and Path(output.path).suffix.lower() != ".csv":
        raise PlanError("[output]: a table is written as CSV; path must end in .csv.")
    if output.schema:
        raise PlanError("[output]: a table has no schema file; leave schema out.")
    n = sum(section.released is None for section in plan.tables)
    check_places((plan.find(name) for _, name in _written(plan, n)), plan_inputs(plan))


def plan_inputs(plan: TablePlan) -> tuple[Path, ...]:
    """What a plan reads: its own file, and each file that it could name."""
    return (*(() if plan.source is None else (plan.source,)), *inputs_of(plan, plan.folder))


def _numbered(name: str, number: int, of: int) -> str:
    path = Path(name)
    return name if of == 1 else str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
