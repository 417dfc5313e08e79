"""Public files, synthesised with the defaults: how much more often records are met that were used, and what the file is good for.

`PYTHONPATH=src:tests python -m attacks.synthesis_files 20 eusilc` draws 1,000 records to use and 1,000 to hold back, 20 times,
and prints the figures of each and their means with standard errors. With a third argument, `listed`, the schema lists the codes
of the whole public file, as a code book does, with "missing" as one of them. With the sources of another version instead of
`src` the same samples are measured with that version.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from attacks.test_synthesize import SIZE, means_and_errors, met, rows_of, two_way, uniques
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.loss.design import joint_design
from reticent.microdata.loss.propensity import logistic_propensity
from reticent.microdata.mask.synthesize import Synthesize

FOLDER = (
    Path(os.environ.get("RETICENT_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "data" / "microdata"
)
MISSING, BELOW_ALL = "missing", -1e12
"""What stands for a missing code and a missing number where files are compared: a value of its own."""


class PublicFile(NamedTuple):
    """Where a public file is, and the variables that are synthesised, in this order."""

    path: str
    variables: tuple[str, ...]
    numbers: tuple[str, ...]
    separator: str = ","


FILES = {
    "eusilc": PublicFile(
        "simPop_eusilcS.csv",
        ("db040", "rb090", "age", "hsize", "pl030", "pb220a", "netIncome"),
        ("age", "hsize", "netIncome"),
    ),
    "adult": PublicFile(
        "adult/adult.csv",
        ("sex", "age", "race", "marital-status", "education", "workclass", "occupation", "salary-class"),
        ("age",),
        ";",
    ),
    "sd2011": PublicFile(
        "synthpop_SD2011.csv",
        ("sex", "age", "placesize", "edu", "marital", "ls", "smoke", "income"),
        ("age", "income"),
    ),
    "testdata": PublicFile(
        "testdata.csv",
        ("urbrur", "roof", "water", "electcon", "relat", "sex", "age", "income"),
        ("age", "income"),
    ),
}


def read(file: PublicFile) -> pl.DataFrame:
    """The variables of a public file; -8 is what SD2011 has where a question does not apply."""
    path = FOLDER / file.path
    frame = pl.read_csv(path, separator=file.separator, infer_schema=False, null_values=["NA", "", "-8.0"])
    return frame.select(file.variables).cast(dict.fromkeys(file.numbers, pl.Float64))


def schema_of(file: PublicFile, everybody: pl.DataFrame, *, listed: bool) -> Schema:
    """The kinds of all variables, and their codes if these are to be listed."""
    variables = []
    for name in file.variables:
        if name in file.numbers:
            variables.append(Variable(name, kind=Kind.NUMERIC))
        else:
            codes = tuple(sorted(everybody[name].unique().drop_nulls())) if listed else ()
            variables.append(Variable(name, kind=Kind.NOMINAL, codes=codes))
    return Schema(tuple(variables))


def shown(data: Microdata, file: PublicFile) -> pl.DataFrame:
    """Codes and numbers of a file; what is missing counts as a value of its own."""
    columns = {}
    for name in file.variables:
        if name in file.numbers:
            columns[name] = pl.Series(np.nan_to_num(data.numbers((name,))[:, 0], nan=BELOW_ALL))
        else:
            columns[name] = pl.Series([MISSING if text is None else text for text in data.texts(name)])
    return pl.DataFrame(columns)


def figures(file: PublicFile, everybody: pl.DataFrame, number: int, *, listed: bool = False) -> dict[str, float]:
    """One replicate: as `test_synthesize.figures`, of a sample of a public file."""
    if listed:
        everybody = everybody.with_columns(pl.col(pl.String).fill_null(MISSING))
    schema = schema_of(file, everybody, listed=listed)
    chosen = np.random.default_rng([number, 14]).permutation(everybody.height)
    samples = [Microdata.of(everybody[rows], schema) for rows in (chosen[:SIZE], chosen[SIZE : 2 * SIZE])]
    made = Synthesize(file.variables).apply(samples[0], secret=as_secret(number), progress=silent).data
    used, held_back, published = (shown(data, file) for data in (*samples, made))
    both = pl.concat([used, held_back])
    return {
        "excess": met(rows_of(used), published) - met(rows_of(held_back), published),
        "uniques": met(uniques(used, both), published) - met(uniques(held_back, both), published),
        "pmse": logistic_propensity(*joint_design(samples[0], made, file.variables)).ratio,
        "two_way": two_way(used, published, file.numbers),
    }


def main(replicates: int, name: str, *, listed: bool) -> None:
    file, rows = FILES[name], []
    everybody = read(file)
    for number in range(replicates):
        rows.append(figures(file, everybody, number, listed=listed))
        print(number, *(f"{key} {value:.3f}" for key, value in rows[-1].items()), flush=True)  # noqa: T201
    for key, (mean, error) in means_and_errors(rows).items():
        print(f"{name} {key}: {mean:.3f} ({error:.3f})")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], listed=sys.argv[3:] == ["listed"])
