# SPDX-License-Identifier: Apache-2.0
"""The only randomness that a masking method gets: draws keyed by the step and by what the step sees.

Two releases with one secret must tell no more than two releases with two secrets. A draw is therefore keyed by secret,
method, occurrence, parameters, everything estimated from the file that enters the value (the scale), and the input:
per record its id and own values, or, where the result depends on all records, a fingerprint of all of them that does
not depend on their order. Equal draws then mean equal results, which reveal nothing new; anything else is drawn again.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from reticent.base.arrays import Floats, Ints, Words, taken
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Variable
from reticent.kernels import draws

# What a missing value looks like to a key: the bits of one NaN, whatever NaN the file has.
_MISSING = np.float64(np.nan).view(np.uint64)


@dataclasses.dataclass(frozen=True)
class StepInput:
    """What a step sees of some units: their ids, their values as 64-bit words (n, d), and what the columns mean."""

    about: str = dataclasses.field(repr=False)
    ids: Words = dataclasses.field(repr=False)
    words: Words = dataclasses.field(repr=False)

    def take(self, rows: Ints) -> "StepInput":
        """Some of the units, by position."""
        return StepInput(self.about, taken(self.ids, rows), taken(self.words, rows))


@dataclasses.dataclass(frozen=True)
class RecordDraws:
    """Draws of single records; `words` and `ids` are for kernels that draw as they go."""

    words: tuple[int, int] = dataclasses.field(repr=False)
    ids: Words = dataclasses.field(repr=False)

    def rows(self, rows: slice) -> "RecordDraws":
        """Draws of some of the records."""
        return RecordDraws(self.words, self.ids[rows])

    def normals(self, columns: int) -> Floats:
        """Standard normals, shape (n, columns)."""
        return draws.normal_matrix(*self.words, self.ids, columns)

    def uniforms(self, draw: int = 0) -> Floats:
        """Uniforms in [0, 1): draw number `draw` of each record."""
        return draws.uniforms(*self.words, self.ids, draw)


class StepDraws:
    """Draws of one step. It hands out none without the input that they are for, so no method can forget it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: Secret, method: Any) -> None:
        self._secret = secret.child(f"step {method.name}: {parameters_key(method)}")

    def __repr__(self) -> str:
        return "<StepDraws>"

    def of_records(self, units: StepInput, *, scale: Sequence[Any]) -> RecordDraws:
        """Draws that depend on each unit's id and own values, and on `scale`: all that the file adds to the result.

        The same unit with the same values under the same scale gets the same draw in every release, and so the same
        result.
        """
        own = self._secret.child(f"records: {units.about}: {scale_key(scale)}")
        return RecordDraws(own.words("draws"), draws.record_keys(*own.words("keys"), units.ids, units.words))

    def of_part(self, units: StepInput) -> Secret:
        """A secret for results that depend on all units of a part together; any change in the part gives another."""
        own = self._secret.child(f"part: {units.about}")
        mark = draws.fingerprint(*own.words("keys"), units.ids, units.words)
        return own.child(f"{len(units.ids)} units: {mark.hex()}")

    def of_file(self, data: Microdata, names: Sequence[str], *, bonds: bool = False) -> Secret:
        """As `of_part`, for all records and all variables that the result depends on (who belongs together included).

        `bonds` says that it also depends on who belonged together by ids that were removed.
        """
        structure = (data.schema.household_id, data.schema.entity)
        seen = dict.fromkeys((*names, *(name for name in structure if name is not None)))
        units, hidden = step_input(data, tuple(seen)), data.bonds() if bonds else ()
        if hidden:
            words = np.column_stack((units.words, *(numbers for _, numbers in hidden)))
            units = StepInput(f"{units.about}, {[role for role, _ in hidden]}", units.ids, words)
        return self.of_part(units)


def step_input(
    data: Microdata, names: Sequence[str], *, first: Ints | None = None, ids: Words | None = None
) -> StepInput:
    """What a step sees of records, or of units given by the position of their first record and their ids."""
    columns = [_column_words(data, name) for name in names]
    if len(columns) == 1:
        words = columns[0][:, None]
    else:
        words = np.column_stack(columns) if columns else np.zeros((data.n_records, 0), dtype=np.uint64)
    about = repr([_meaning(data.schema[name]) for name in names])
    return StepInput(about, data.record_ids() if ids is None else ids, words if first is None else taken(words, first))


def _column_words(data: Microdata, name: str) -> Words:
    """A 64-bit word per record: the bits of a number, or a hash of a code's text (code numbers depend on the file)."""
    if data.schema[name].kind is Kind.NUMERIC:
        return number_words(data.numbers((name,))[:, 0])
    texts = data.categories(name)
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    table = np.append(np.frombuffer(digests, dtype="<u8").astype(np.uint64), _MISSING)
    return np.asarray(table[data.encoded(name).codes.astype(np.int64)])


def number_words(values: Floats) -> Words:
    """The bits of numbers; −0 is 0 and every NaN is the same."""
    words = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    words[np.isnan(values)] = _MISSING
    return words


def _meaning(variable: Variable) -> tuple[Any, ...]:
    """What of the schema can change what a method makes of a column."""
    tree = variable.hierarchy.leaves if variable.hierarchy else ()
    return (
        variable.name, str(variable.kind), variable.missing, variable.codes, tree, variable.decimals, variable.is_household,
    )  # fmt: skip


def parameters_key(method: Any) -> str:
    """All parameters of a method as one text; equal ones in another spelling (1 and 1.0) give the same text.

    Fields whose metadata say `keyed: False` change speed, not results. Those that were added to a method later say
    `keyed: "if set"`, so that plans which do not use them draw what they always drew.
    """
    fields = [field for field in dataclasses.fields(method) if _is_keyed(field, getattr(method, field.name))]
    return json.dumps({field.name: _plain(getattr(method, field.name)) for field in fields}, sort_keys=True)


def _is_keyed(field: "dataclasses.Field[Any]", value: Any) -> bool:
    keyed = field.metadata.get("keyed", True)
    return bool(value != field.default) if keyed == "if set" else bool(keyed)


def scale_key(scale: Sequence[Any]) -> str:
    """Estimated quantities (numbers, arrays, texts) as one text; floats by their bits."""
    return json.dumps([_plain(item) for item in scale])


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, Enum):
        return ["choice", _plain(value.value)]
    if isinstance(value, int | float | np.integer | np.floating):
        return ["number", (float(value) + 0.0).hex() if float(value) == value else repr(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return sorted([str(key), _plain(item)] for key, item in value.items())
    if isinstance(value, np.ndarray):
        return [list(value.shape), [_plain(item) for item in value.ravel().tolist()]]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"draws cannot be keyed by a {type(value).__name__}")
