# SPDX-License-Identifier: Apache-2.0
"""The cell key method of tau-ARGUS batch files: `<SUPPRESS> CKM(…)` and `<WRITETABLE>` of type 7."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reticent.base.errors import DataError, PlanError
from reticent.data.parameters import build
from reticent.io.argus_batch import Call
from reticent.io.argus_ckm import CkmTags
from reticent.io.argus_output import ArgusCells
from reticent.io.atomic import write_text
from reticent.jobs.argus.tables import exact_name
from reticent.tables.perturb.cell_key import MagnitudeNoise
from reticent.tables.perturb.keyed import CellKey
from reticent.tables.result import ProtectedTable

_PART = re.compile(r'^(?:"([^"]*)"|([0-9.eE+-]+))?$')


def ckm_method(
    call: Call, wanted: str | None, names: Sequence[str], tags: CkmTags | None, find: Callable[[str], Path]
) -> CellKey:
    """Our method for CKM(tab), with the p-tables that the metadata (`names`, `tags`) or the command name."""
    response = None if wanted is None else exact_name(wanted, names)
    if tags is None:
        raise PlanError("CKM: the metadata must have a variable with <RECORDKEY>.")
    given = _parts(call.rest, counts=response is None)
    if response is None:
        return CellKey(ptable=str(find(_file(given.get("freq"), tags, "freq"))), record_key=tags.record_key)
    variable = tags.variables.get(response)
    if variable is None or not variable.perturbed:
        raise PlanError(f"CKM: the metadata must mark {response} with <CKM> T(number), M, D or V.")
    options = dict(variable.options)
    if "muc" in given:
        options["extra"] = float(given["muc"])
    noise = build(MagnitudeNoise, options, owner=f"CKM ({response})")
    small = str(find(_file(given.get("sep"), tags, "sep"))) if noise.separation else ""
    cont = str(find(_file(given.get("cont"), tags, "cont")))
    return CellKey(ptable=cont, small_ptable=small, record_key=tags.record_key, noise=noise)


def _parts(text: str, *, counts: bool) -> dict[str, str]:
    """What stands behind CKM(tab): "ptable", or "cont"|"sep"|muC, each of which may be left out."""
    names = ("freq",) if counts else ("cont", "sep", "muc")
    pieces = [piece.strip() for piece in text.split("|")] if text.strip() else []
    found: dict[str, str] = {}
    for name, piece in zip(names, pieces, strict=False):
        match = _PART.match(piece)
        if not match or (match.group(2) is not None) > (name == "muc"):
            pieces = [""] * (len(names) + 1)
            break
        value = match.group(1) or match.group(2)
        if value:
            found[name] = value
    if len(pieces) > len(names):
        form = '"ptable"' if counts else '"cont"|"sep"|muC'
        raise PlanError(f"CKM: after CKM(table) only {form} may follow, got {text!r}.")
    try:
        float(found.get("muc", "0"))
    except ValueError:
        raise PlanError(f"CKM: muC must be a number, got {found['muc']!r}.") from None
    return found


def _file(given: str | None, tags: CkmTags, kind: str) -> str:
    name = given or tags.files.get(kind)
    if name is None:
        raise PlanError(f"CKM: no p-table is named; the metadata need <PFILE_{kind.upper()}> below <RECORDKEY>.")
    return name


def write_ckm(
    result: ProtectedTable, number: int, cells: ArgusCells, options: Mapping[str, bool], path: Path
) -> list[Path]:
    """Write type 7: codes and perturbed value, with AO+ the original, AD+ the difference, AC+ the cell key."""
    assert cells.original is not None
    mark = '"' if options.get("QU", True) else ""
    keys = _wide_keys(result, number, cells)
    lines = []
    for cell in cells.rows:
        row = [f"{mark}{cells.code(cell, at)}{mark}" for at in range(len(cells.dimensions))]
        row.append(cells.number(float(cells.values[cell])))
        original = float(cells.original[cell])
        if options.get("AO", False):
            row.append(cells.number(original))
        if options.get("AD", False):
            row.append(cells.number(float(cells.values[cell]) - original))
        if options.get("AC", False):
            row.append(f"{keys[cell]:.{result.table.key_digits or 15}f}")
        lines.append(";".join(row))
    write_text(path, "\n".join(lines) + "\n")
    rda = path.with_suffix(".rda")
    write_text(rda, "\n".join(_metadata(cells, options)) + "\n")
    return [path, rda]


def _wide_keys(result: ProtectedTable, number: int, cells: ArgusCells) -> list[float]:
    """The key of every listed cell; cells without records have 0."""
    table, members = result.system.parts[number], result.system.members[number]
    if result.table.cell_keys is None:
        raise DataError("WRITETABLE: the table has no cell keys.")
    known = dict(zip(map(tuple, table.codes.tolist()), result.table.cell_keys[members].tolist(), strict=True))
    return [known.get(tuple(row), 0.0) for row in cells.codes.tolist()]


def _metadata(cells: ArgusCells, options: Mapping[str, bool]) -> list[str]:
    lines = ['   <SEPARATOR> ";"']
    for dimension in cells.dimensions:
        lines += [dimension.name, "    <RECODEABLE>", f'    <TOTCODE> "{dimension.codes[0]}"']
    lines += [cells.response, "    <NUMERIC>", f"    <DECIMALS> {cells.decimals}"]
    for option, name, keyword in (
        ("AO", "OrigVar", "NUMERIC"),
        ("AD", "Difference", "NUMERIC"),
        ("AC", "CellKey", "CELLKEY"),
    ):
        if options.get(option, False):
            lines += [name, f"    <{keyword}>"]
    return lines
