# SPDX-License-Identifier: Apache-2.0
"""Labels of bands of numbers, and the order of new codes."""

from collections.abc import Mapping, Sequence


def band_labels(edges: Sequence[float], *, whole: bool, below: bool) -> tuple[str, ...]:
    """Labels of the bands that start at each edge; `below` adds the one under the first edge.

    >>> band_labels([16, 25, 26, 65], whole=True, below=True)
    ('<16', '16-24', '25', '26-64', '65+')
    >>> band_labels([0, 2.5], whole=False, below=False)
    ('0 to <2.5', '2.5+')
    """
    texts = [f"{edge:g}" if abs(edge) < 1e6 else repr(edge).removesuffix(".0") for edge in edges]
    labels = [f"<{texts[0]}"] if below else []
    for position in range(len(edges) - 1):
        if not whole:
            labels.append(f"{texts[position]} to <{texts[position + 1]}")
        elif edges[position + 1] - edges[position] == 1:
            labels.append(texts[position])
        else:
            labels.append(f"{texts[position]}-{int(edges[position + 1]) - 1}")
    return *labels, f"{texts[-1]}+"


def band_ranges(edges: Sequence[float]) -> dict[str, str]:
    """The numbers that each label of `band_labels` may stand for, whatever the numbers of the file are.

    >>> band_ranges([16, 65])
    {'<16': '<16', '16-64': '16 to <65', '65+': '65+', '16 to <65': '16 to <65'}
    """
    spans = band_labels(edges, whole=False, below=True)
    whole = band_labels(edges, whole=all(float(edge).is_integer() for edge in edges), below=True)
    return dict(zip((*whole, *spans), (*spans, *spans), strict=True))


def merged(pairs: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """The new codes in the order in which the old ones first lead to them."""
    return tuple(dict.fromkeys(pairs[code] for code in order if code in pairs))


def by_text(codes: Sequence[str]) -> tuple[str, ...]:
    """Codes in an order that depends on nothing but themselves: whole numbers by size, before texts."""
    return tuple(sorted(codes, key=lambda code: (not _is_whole(code), int(code) if _is_whole(code) else 0, code)))


def _is_whole(code: str) -> bool:
    return code.isascii() and code.isdigit()
