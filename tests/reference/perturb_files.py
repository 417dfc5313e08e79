"""Small files for the tests of perturbative methods."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.method import Applied
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable


def file_of(columns: Mapping[str, Any], *, roles: Mapping[str, Role] | None = None, ordinal: Sequence[str] = (),
            household: Sequence[str] = ()) -> Microdata:  # fmt: skip
    """Floats become numeric variables, everything else nominal (or ordinal) ones."""
    roles = roles or {}
    frame = pl.DataFrame(
        {name: values if isinstance(values, pl.Series) else np.asarray(values) for name, values in columns.items()}
    )
    variables = []
    for name in frame.columns:
        numeric = frame[name].dtype.is_float() or roles.get(name) is Role.WEIGHT
        kind = Kind.NUMERIC if numeric else Kind.ORDINAL if name in ordinal else Kind.NOMINAL
        variables.append(Variable(name, kind=kind, role=roles.get(name, Role.OTHER), household=name in household))
    return Microdata.of(frame, Schema(tuple(variables)))


def run(method: Any, data: Microdata, secret: int = 1) -> Applied:
    """Apply a method as a job does: check, apply, and hold it to its promises."""
    method.check(data.schema)
    applied = method.apply(data, secret=as_secret(secret).child(method.name), progress=silent)
    for promise in method.promises():
        assert promise.broken(data, applied.data) == 0, promise.text
    return applied


def correlated_normals(n: int, d: int = 3, seed: int = 0, correlation: float = 0.5) -> np.ndarray:
    """Standard normals with the same correlation between all."""
    rng = np.random.default_rng(seed)
    matrix = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    return rng.standard_normal((n, d)) @ np.linalg.cholesky(matrix).T
