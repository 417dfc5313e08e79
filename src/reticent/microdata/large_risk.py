# SPDX-License-Identifier: Apache-2.0
"""The risk of records that stay in an engine: their combinations are counted there, and judged as a file is."""

from collections.abc import Sequence

from reticent.base.errors import DataError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import Secret
from reticent.data.large import LargeFile
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.microdata.mask.recode import Recode
from reticent.microdata.measure import FileRisk, measure_risk
from reticent.microdata.pipeline import check_promises


def combinations_of(file: LargeFile, keys: Sequence[str], *, owner: str, progress: Progress = silent) -> Microdata:
    """The combinations of the keys (none: those of the schema), each with its number of records and sum of weights."""
    names = tuple(keys) or file.schema.keys
    file.schema.require(names, owner=owner)
    if not names:
        raise DataError(f"{owner}: the schema has no keys, so nothing can be judged; give variables the role key.")
    refuse_respondents(file, owner=owner)
    return file.patterns(names, progress=progress)


def refuse_respondents(file: LargeFile, *, owner: str) -> None:
    """Combinations are counted in records here; where a respondent has several, that would protect too little."""
    entity = file.schema.entity
    if entity is None:
        return
    text = file.view.connection.quote(entity)
    if file.view.facts(n=f"COUNT(DISTINCT {text})")["n"] < file.n_records:
        raise DataError(
            f"{owner}: an engine counts records, but respondents have several of them ({entity!r}), so the risk would seem "
            "too small. Keep one record of each respondent, or read the file without an engine.",
            variables=(entity,),
        )


def measure_large(file: LargeFile, settings: RiskSection, *, progress: Progress = silent) -> tuple[FileRisk, Microdata]:
    """The risk of the file, and the combinations that it was judged by."""
    found = combinations_of(file, settings.keys, owner="[risk] keys", progress=part(progress, 0.0, 0.7))
    progress(0.7, "judging")
    return measure_risk(found, settings), found


def recoded(file: LargeFile, steps: Sequence[Recode]) -> LargeFile:
    """The file with coarser codes: each step recodes the different values of its variable, the engine looks them up."""
    nothing = Secret(bytes(32))  # a recoding draws nothing
    for step in steps:
        step.check(file.schema)
        column = file.column(step.variable)
        applied = step.apply(column, secret=nothing, progress=silent)
        check_promises(step, column, applied.data)
        file = file.with_column(applied.data)
    return file


def household_note(file: LargeFile) -> tuple[str, ...]:
    """What is not measured of a file in an engine."""
    return (
        ("Households are not judged where records stay in an engine: the risk is that of single records.",)
        if file.schema.household_id is not None else ()
    )  # fmt: skip
