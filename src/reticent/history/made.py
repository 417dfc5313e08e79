# SPDX-License-Identifier: Apache-2.0
"""What is about to be released: records, recipe and results, as a ledger takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reticent.base.errors import PlanError
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.table import TableSpec
from reticent.data.table_plan import BoundsOptions
from reticent.history.editions import Recipe
from reticent.history.file_recipe import FileRecipe
from reticent.history.table_recipe import TableRecipe
from reticent.microdata.result import ProtectedFile
from reticent.tables.request import TableRequest
from reticent.tables.result import ProtectedTable
from reticent.tables.run import run_request

NEEDS_MEMORY = "[data]: a ledger judges releases by their records in memory; drop the engine, or the ledger."


@dataclass(frozen=True, eq=False)
class Made:
    """What would be published: of which records, as a recipe, and why it leaves although an attack of its own was not held.

    Of tables also the request and its results, so that they can be protected once more.
    """

    records: Microdata = field(repr=False)
    recipe: Recipe = field(repr=False)
    risk: str = ""
    request: TableRequest | None = field(default=None, repr=False)
    results: tuple[ProtectedTable, ...] = field(default=(), repr=False)
    accept_exposed: bool = False

    def run(self, request: TableRequest, *, exposed: bool = False) -> tuple[tuple[ProtectedTable, ...], TableRecipe]:
        """Protect the tables of another request in the same way."""
        results = run_request(request)
        for result in results:
            result.require(accept_exposed=self.accept_exposed or exposed)
        return results, recipe_of_tables(request, results)


def made_tables(
    request: TableRequest, results: Sequence[ProtectedTable], *, risk: str = "", accept_exposed: bool = False
) -> Made:
    """Protected tables as a ledger takes them; what it would not know of is refused."""
    records = request.tables[0].records
    if records is None:
        raise PlanError(
            "[table]: a finished table has no records to be judged with; import it with `reticent ledger import`."
        )
    if isinstance(records, LargeFile):
        raise PlanError(NEEDS_MEMORY)
    if request.releases or any(table.earlier is not None for table in request.tables):
        raise PlanError(
            "[table]: released and [attack] releases name tables that the ledger does not know of, so that later releases "
            "would not be judged with them. Import them with `reticent ledger import`, and leave them out here."
        )
    if request.attacker.coalition > 1:
        raise PlanError("[protect]: with a ledger only single respondents are judged; leave coalition out.")
    recipe = recipe_of_tables(request, results)
    return Made(records, recipe, risk, request, tuple(results), accept_exposed or bool(risk))


def recipe_of_tables(request: TableRequest, results: Sequence[ProtectedTable]) -> TableRecipe:
    """The recipe of protected tables, with what the request says of the attacker."""
    given = [request.attacker.bounds, *(table.bounds for table in request.tables if table.bounds is not None)]
    bounded = any(bounds != BoundsOptions() for bounds in given)
    bounded |= bool(request.a_priori) or any(table.a_priori for table in request.tables)
    specs = [table.source for table in request.tables if isinstance(table.source, TableSpec)]
    return TableRecipe.of(
        results,
        request.method,
        relations=request.relations,
        insiders=request.attacker.insiders,
        bounded=bounded,
        rules=[rule for table in request.tables for rule in table.rules],
        shadow=next((spec.shadow for spec in specs if spec.shadow), None),
    )


def made_file(run: ProtectedFile, *, risk: str = "") -> Made:
    """A masked file as a ledger takes it; whether its own verdict lets it go is asked before."""
    return Made(run.before, FileRecipe.of(run), risk or run.verdict.accepted or "")
