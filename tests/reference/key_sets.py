"""Distinction and separation of one set of keys, from its own counts."""

from collections.abc import Sequence

from reticent.data.microdata import Microdata
from reticent.microdata.risk.anonymity import KeySetRisk
from reticent.microdata.risk.semantics import keys_of


def distinction_and_separation(data: Microdata, keys: Sequence[str] = ()) -> KeySetRisk:
    """Distinction: distinct combinations per record. Separation: share of pairs of records that differ.

    Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007); as ARX's attribute risks.
    """
    names = keys_of(data, keys, owner="distinction_and_separation")
    counts = data.patterns(names).counts
    n = data.n_records
    pairs = n * (n - 1)
    same = int((counts * (counts - 1)).sum())
    return KeySetRisk(names, len(counts) / n, 1 - same / pairs if pairs else 0.0)
