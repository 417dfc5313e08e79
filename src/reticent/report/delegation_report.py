# SPDX-License-Identifier: Apache-2.0
"""The page of a verified delegation: results, how they were verified, and what that is worth."""

from collections.abc import Mapping
from fractions import Fraction

from reticent.base.words import number
from reticent.delegation.owner import Verified
from reticent.report.page import HTML, Banner, Facts, Rows, Section, Text, render_page

_CHECKS = {
    "residues": "Every total was compared with the plain data modulo fresh secret primes.",
    "parity": "The parity of every block of every total was compared with the plain data; a change by an even number "
    "is never found.",
    "both": "Every total was compared with the plain data modulo fresh secret primes, and every block by its parity.",
}


def delegation_report(found: Verified, expressions: Mapping[str, str], *, form: str = HTML) -> str:
    """The page as HTML text; results are the owner's, so the page is confidential."""
    rows = tuple((name, expressions[name], _exact(value), _about(value)) for name, value in found.results.items())
    passing = f"{found.passing:.1e}" if found.passing is not None else "no bound: even changes pass"
    facts = Facts(
        (
            ("rows read by the owner to verify", number(found.rows)),
            ("secret primes", number(found.primes)),
            ("a wrong result passes with probability at most", passing),
        )
    )
    blocks = (
        Banner(True, "Every result verified."),
        Rows(("name", "expression", "exact", "about"), rows),
        facts,
        Text(_CHECKS[found.check]),
        Text("The handler had no key and saw only ciphertexts, the number of rows and the expressions."),
    )
    return render_page("Delegated computation", (Section("Results", blocks),), public=False, form=form)


def _exact(value: Fraction | bool | None) -> str:
    return "divided by zero" if value is None else str(value)


def _about(value: Fraction | bool | None) -> object:
    return "" if value is None or isinstance(value, bool) else float(value)
