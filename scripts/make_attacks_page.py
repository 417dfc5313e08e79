"""Run all attacks against all modes on generated establishments and write docs/explanation/attacks.md.

python scripts/make_attacks_page.py
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.queries.analysis.regression import RegressionRules  # noqa: E402
from reticent.queries.attacks.catalogue import ATTACKS, AttackReport, Finding, run_attack, run_catalogue  # noqa: E402
from reticent.queries.attacks.coverage import MODES, NOT_COVERED  # noqa: E402
from reticent.queries.attacks.regression import (  # noqa: E402
    Firms,
    Sweep,
    by_size_quantile,
    generated_firms,
    outlier_attack,
    sweep_dummy,
    sweep_outlier,
    uniquely_identified,
)
from reticent.queries.attacks.scenario import establishments  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "attacks.md"
RULES = RegressionRules(least=10, r_squared=0.99, leverage=0.5)
WIDTHS = (0.0, 0.01, 0.05, 0.1, 0.2)
SECRETS = 24
CHANCE = ("averaging", "padding", "collusion", "insider", "covariance")
NOISE_CHANCE = (
    "averaging", "collusion", "insider", "tracker", "padding", "differencing at depth", "linear reconstruction",
    "error oracle",
)  # fmt: skip
EPSILONS = (1.0, 1e-2, 1e-4, 1e-6)
WHAT = {
    "tracker": "four sums around the target: q(C ∨ T) + q(C ∨ ¬T) − q(T) − q(¬T)",
    "differencing at depth": "twenty random unions of cells, of which the target is a rational combination",
    "averaging": "all and all but the target, repeated and in many spellings, averaged",
    "padding": "all and all but the target, each joined with many pads, averaged",
    "syntactic variants": "47 spellings of one record set; another answer or verdict is a success",
    "linear reconstruction": "forty random subset sums of sixteen firms, and a linear program",
    "regression outlier": "a regression on a number in which the target is far out",
    "strategic dummy": "a regression on a code that only the target has",
    "saturated model": "a regression on codes in a small universe: fitted values are cell means",
    "covariance": "mean and variance of two records, directly or as differences",
    "encoding": "quantiles at many shares and the maximum spell out the ordered values",
    "error oracle": "a code that one firm has against a code that nobody has: another reply tells that the code exists",
    "weights fingerprint": "equality with a number that is different for everybody",
    "insider": "the sum of a pair less the own value",
    "collusion": "two users with one harmless question each",
    "version differencing": "the same sums of two versions of the data, before and after the target came",
    "denial leaks": "the pattern of refusals of two databases that differ in the target's value",
}


def cell(finding: Finding) -> str:
    """One cell of the table attack × mode."""
    star = "" if finding.covered or finding.mode == "open" else " \\*"
    word = "**succeeded**" if finding.succeeded else finding.verdict
    return f"{word} ({finding.queries}){star}"


def catalogue_rows(report: AttackReport) -> list[str]:
    """The table attack × mode."""
    rows = ["| attack | " + " | ".join(MODES) + " |", "|---|" + "---|" * len(MODES)]
    for attack in ATTACKS:
        rows.append(f"| {attack} | " + " | ".join(cell(report.finding(attack, mode)) for mode in MODES) + " |")
    return rows


def chance_rows(mode: str, attacks: tuple[str, ...]) -> list[str]:
    """How often attacks on a mode succeed over many secrets."""
    scenario = establishments(mode=mode)
    rows = ["| attack | succeeded | median relative error |", "|---|---:|---:|"]
    for attack in attacks:
        found = [run_attack(attack, scenario, secret=secret) for secret in range(SECRETS)]
        errors = [f.recovered_error for f in found if f.recovered_error is not None]
        middle = f"{np.median(errors):.3f}" if errors else "–"
        rows.append(f"| {attack} | {sum(f.succeeded for f in found)} of {SECRETS} | {middle} |")
    return rows


def quantile_rows(firms: Firms, marks: list[tuple[str, np.ndarray]], form: str) -> list[str]:
    """A table with a row for each group of sizes and a column for each mark."""
    tables = [by_size_quantile(firms.size, mark) for _, mark in marks]
    rows = ["| size quantile | " + " | ".join(label for label, _ in marks) + " |", "|---|" + "---:|" * len(marks)]
    for k, (group, _) in enumerate(tables[0]):
        rows.append(f"| {group} | " + " | ".join(form.format(table[k][1]) for table in tables) + " |")
    return rows


def identified_rows(firms: Firms) -> list[str]:
    """Share uniquely identified by what is known exactly."""
    choices = [
        ("size", [0]),
        ("size, region", [0, 1]),
        ("size, industry", [0, 2]),
        ("size, region, industry", [0, 1, 2]),
    ]
    marks = []
    for label, columns in choices:
        known = firms.columns[:, columns]
        marks.append((label, uniquely_identified(known, np.zeros(known.shape))))
    return quantile_rows(firms, marks, "{:.2f}")


def approximate_rows(firms: Firms) -> list[str]:
    """Share uniquely identified when the size is known approximately, with region and industry."""
    marks = []
    for share in WIDTHS:
        width = np.column_stack([share * firms.size, np.zeros((len(firms.size), 2))])
        marks.append((f"± {100 * share:g} %", uniquely_identified(firms.columns, width)))
    return quantile_rows(firms, marks, "{:.2f}")


def outlier_rows(firms: Firms) -> list[str]:
    """Relative error of the outlier attack on an open regression."""
    marks = []
    for epsilon in EPSILONS:
        found = [
            outlier_attack(firms.size, firms.turnover, guess=float(size), epsilon=epsilon) or 0.0 for size in firms.size
        ]
        marks.append((f"ε = {epsilon:g}", np.abs(np.array(found) - firms.turnover) / firms.turnover))
    return quantile_rows(firms, marks, "{:.5f}")


def sweep_rows(lines: list[Sweep], first: str) -> list[str]:
    """A sweep as a table."""
    rows = [f"| {first} | open: mean relative error | under the rules: refused | answered: median relative error |"]
    rows.append("|---|---:|---:|---:|")
    for line in lines:
        label = (
            f"{100 * line.knowledge:g} %" if not line.epsilon else f"ε = {line.epsilon:g}, {100 * line.knowledge:g} %"
        )
        error = "–" if line.protected_error is None else f"{line.protected_error:.2f}"
        rows.append(f"| {label} | {line.open_error:.5f} | {100 * line.refused:.0f} % | {error} |")
    return rows


def page() -> str:
    """The whole page."""
    report = run_catalogue(establishments(), modes=MODES)
    firms, unique = generated_firms(2000), generated_firms(800, unique_sizes=True)
    why = [f"- **{attack}, {mode}**: {reason}." for (attack, mode), reason in NOT_COVERED.items()]
    off = (0.0, 0.01, 0.05)
    parts = [
        "# What attackers get\n\nThis page is written by `scripts/make_attacks_page.py` from a run; do not edit it. "
        "`reticent attack` runs the same catalogue, `reticent attack DATABASE.toml` runs it against copies of your own "
        "database in its mode, and in the open mode (everything answered exactly) to show that each attack has power.\n\n"
        "The data are 400 generated firms. The attacker knows all filters of all firms; the target is alone in its region, "
        "industry and size class, has a licence and a permit of its own, and is the largest firm of its region. An attack "
        "succeeds if every value that it leaves possible is within 1 % of the target's, or, for attacks on refusals and "
        "messages, if what must look the same does not. In brackets: the number of queries; \\*: the mode does not promise "
        "that this attack fails.",
        "## Attack × mode",
        "\n".join(catalogue_rows(report)),
        "What each attack does:",
        "\n".join(f"- **{attack}**: {what}." for attack, what in WHAT.items()),
        "## What is not promised",
        "\n".join(why),
        "In the modes exact and simulatable the existence of a code can be seen from whether *all but that code* is "
        'answered: which records a condition selects is declared public. With `history = "user"` users are judged apart, '
        "and collusion is not covered.",
        "## The analysis mode is a matter of chance\n\nWhich records a universe loses depends on the secret, and two universes "
        "may lose alike; the mode promises only that this is rare. The target here is far larger than any firm of its "
        f"region, which is the hard case. Over {SECRETS} secrets:",
        "\n".join(chance_rows("analysis", CHANCE)),
        "Padding gets exactly what a single pair gets (collusion): pads lie in other strata, and what the target's stratum "
        "loses does not change. For magnitudes of which single firms hold much, use `exact` with a dominance rule, or "
        "`camouflage`.",
        "## So is the cell-key mode\n\nHere sums carry noise with a standard deviation of 35 % of their largest contribution "
        "(`small = 0.2`, variance 3), and counts change by at most 5. Repeating a question gains nothing: averaging gets "
        "exactly what a single pair of questions gets. Different sets have independent noise, so attacks that combine many "
        f"of them come nearer. Over {SECRETS} secrets:",
        "\n".join(chance_rows("cell-key", NOISE_CHANCE)),
        "The mode keeps no account of what was asked; against somebody with many questions use `exact` or `camouflage`, or "
        "limit the questions (`[policy.limits] queries`).",
        "## Regression attacks\n\nWhoever may transform predictors needs no rare code. With z = 1/(|x − x̂| + ε) the target "
        "(size x̂) is an outlier that pulls the line through its own value; an indicator of everything known about the "
        "target does the same exactly. Here no transforms are offered in queries; the tables show what they would give on "
        "an open regression, and that the rules of the analysis mode refuse or blunt each model (absorbed indicators count "
        "as refused). Tables in the shape of those in SORT 35 (2011), on 2,000 generated firms.",
        "Share of firms that are uniquely identified, by what is known exactly:",
        "\n".join(identified_rows(firms)),
        "Share uniquely identified with region, industry, and the size known approximately:",
        "\n".join(approximate_rows(firms)),
        "Mean relative error of the outlier attack on an open regression, 800 firms with different sizes:",
        "\n".join(outlier_rows(unique)),
        "The outlier attack over ε and the error of the known size:",
        "\n".join(sweep_rows(sweep_outlier(unique, RULES, epsilons=EPSILONS, knowledge=off), "ε, size known within")),
        "The strategic dummy, region and industry known, over the width of the known size:",
        "\n".join(sweep_rows(sweep_dummy(firms, RULES, widths=WIDTHS), "size known within")),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
