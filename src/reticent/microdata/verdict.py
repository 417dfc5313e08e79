# SPDX-License-Identifier: Apache-2.0
"""Judge what the attacks found by the limits that the plan states: held, not held, or not judged."""

from collections.abc import Sequence

from reticent.base.words import counted
from reticent.data.plan import RiskSection
from reticent.data.verdict import ALWAYS, ATTACKS, AttackVerdict, FileVerdict, State
from reticent.microdata.attacks import FileAttacks
from reticent.microdata.risk.household_recount import HouseholdRecount
from reticent.microdata.risk.linkage_causes import causes_text
from reticent.microdata.risk.restored import Restored, Told

Found = tuple[float | None, float | None, str]


def figure(value: float, limit: float) -> str:
    """A number with three digits, or with as many as it takes to see on which side of the limit it lies.

    >>> figure(0.0123456, 0.05), figure(0.0500001, 0.05)
    ('0.0123', '0.0500001')
    """
    texts = (f"{value:.{digits}g}" for digits in range(3, 18))
    return next((text for text in texts if (float(text) > limit) == (value > limit)), repr(value))


def judge(attacks: FileAttacks, settings: RiskSection, *, limit: float, households: bool) -> FileVerdict:
    """One verdict for each attack; what could not be tried is not judged, whatever was asked."""
    asked = settings.asked(households=households, weights=attacks.weights is not None)
    found = {
        "recount": _recount(attacks, limit),
        "linkage": _linkage(attacks, limit),
        "households": _households(attacks, limit),
        "intervals": _intervals(attacks, settings),
        "weights": _weights(attacks),
        "order": _order(attacks),
    }
    made = []
    for name in ATTACKS:
        value, most, text = found[name]
        if value is None or most is None:
            state = State.NOT_JUDGED
        else:
            state = State.HELD if value <= most else State.NOT_HELD
        if name in asked or name in (*ALWAYS, "intervals", "order") or value is not None:
            made.append(AttackVerdict(name, state, name in asked, text, value, most))
    return FileVerdict(tuple(made), settings.accept_risk or "")


def risk_of(verdict: FileVerdict) -> float | None:
    """The largest risk among what is limited by `most` and asked for; None if one of these could not be judged."""
    values = [one.value for one in verdict.asked if one.attack in ("recount", "linkage", "households")]
    return None if not values or None in values else max(value for value in values if value is not None)


def _recount(attacks: FileAttacks, limit: float) -> Found:
    found = attacks.recount
    if found is None:
        return None, None, attacks.not_tried["recount"]
    individual = found.individual()
    worst, above = float(individual.risk.max(initial=0.0)), individual.records_above(limit)
    by = "by the weights" if found.population_counts is not None else "in the sample"
    text = f"the largest risk of a record {by} is {figure(worst, limit)}, {limit:g} is allowed ({above} records above)"
    if found.copied:
        are = "record of the file is a copy" if found.copied == 1 else "records of the file are copies"
        text += f"; {found.copied} {are} of others, and copies of one person count once"
    if found.together:
        text += f"; {', '.join(found.together)} went to other records together, where they are found"
    if found.left_out:
        text += f"; who leaves out {', '.join(found.left_out)}, which chance has changed, finds more"
    text += restored_text(attacks.restored) + attacks.outside.text
    if attacks.recount_outside is None or worst > limit:
        return worst, limit, text
    more = max(worst, float(attacks.recount_outside.individual().risk.max(initial=0.0)))
    text += f"; for them the largest risk is {figure(more, limit)}"
    # nobody knows who has such a map: above the limit the file is not judged, and within it the map does no harm
    return (None, limit, f"{text} (not judged)") if more > limit else (more, limit, text)


def restored_text(found: Restored | None) -> str:
    """Which hidden values of keys the file gives back, by what, and what to do; empty where it gives none back."""
    if found is None:
        return ""
    texts = told_texts(found.told)
    if found.pairs_left_out:
        texts.append(f"{counted(found.pairs_left_out, 'pair')} of variables were too many to look for more")
    return "".join(f"; {text}" for text in texts)


def told_texts(told: Sequence[Told]) -> list[str]:
    """One sentence for each key; only what tells most of it is named."""
    texts = []
    for key in dict.fromkeys(one.key for one in told):
        mine = [one for one in told if one.key == key]
        best, all_records = max(mine, key=lambda one: one.records), sum(one.records for one in mine)
        follow = "follows" if all_records == 1 else "follow"
        most = f" ({best.records} of them) and others" if len(mine) > 1 else ""
        values = f"{counted(all_records, 'hidden value')} of {key} {follow} from {best.text}{most}"
        texts.append(f"{values}: {best.advice}")
    return texts


def _linkage(attacks: FileAttacks, limit: float) -> Found:
    found = attacks.linkage
    if found is None:
        return None, None, attacks.not_tried["linkage"]
    best = max(found.by_attacker, key=lambda pair: pair[1], default=("nothing", 0.0))[0]
    by = f"{len(found.variables)} variables ({best})" if found.variables else "nothing that is still published"
    text = (
        f"{found.share:.2%} of the published records are rightly and uniquely linked by {by}, {limit:.2%} is allowed"
        f"{causes_text(attacks.causes)}"
    )
    known = attacks.linkage_outside
    return _with_outside(attacks, (found.share, limit, text), 0.0 if known is None else known.share)


def _households(attacks: FileAttacks, limit: float) -> Found:
    found = attacks.households
    if found is None:
        return None, None, attacks.not_tried["households"]
    if not found.households:
        return 0.0, limit, (
            "no household id is published, and neither weight and household variables, nor what members mostly share, nor "
            "any one published variable, nor numbers that lie close together put members of a household together"
        )  # fmt: skip
    worst, above = float(found.risk.max(initial=0.0)), int((found.risk > limit).sum())
    text = (
        f"the largest risk of {found.households} households, put together by {found.by}, is {figure(worst, limit)}, "
        f"{limit:g} is allowed ({above} above)"
    )
    if not found.complete:
        text += "; some have too many blanks to be compared with all others, and keep an upper bound"
    known, linked = attacks.households_outside, found.linkage
    more = 0.0 if known is None else _largest(known)
    if linked is None:
        return _with_outside(attacks, (worst, limit, text), more)
    of = "the households" if linked.asked == found.households else f"{linked.asked} households that were tried"
    text += f"; {linked.share:.2%} of {of} are rightly and uniquely linked by their nearest members ({linked.attacker})"
    return _with_outside(attacks, (_largest(found), limit, text), more)


def _largest(found: HouseholdRecount) -> float:
    """The largest risk of a household, or the share of them that is linked."""
    return max(float(found.risk.max(initial=0.0)), 0.0 if found.linkage is None else found.linkage.share)


def _with_outside(attacks: FileAttacks, found: tuple[float, float, str], more: float) -> Found:
    """What was found, beside `more` that somebody finds who knows which keys other published variables still have."""
    value, limit, text = found
    if value > limit or more <= value:
        return found
    text += f"; for whoever knows how {attacks.outside.tied} go together it is {figure(more, limit)}"
    return (None, limit, f"{text} (not judged)") if more > limit else (more, limit, text)


def _intervals(attacks: FileAttacks, settings: RiskSection) -> Found:
    if not attacks.intervals:
        return None, None, "the file has no numbers to compare"
    name = max(attacks.intervals, key=lambda one: attacks.intervals[one] if attacks.intervals else 0.0)
    share, width = attacks.intervals[name], settings.interval_percent
    text = f"{share:.2%} of the true values of {name} lie within {width:g} % of the ranks around the published ones"
    if settings.interval_most is None:
        return share, None, f"{text}; no interval_most is given"
    return share, settings.interval_most, f"{text}, {settings.interval_most:.2%} is allowed"


def _weights(attacks: FileAttacks) -> Found:
    found = attacks.weights
    if found is None:
        return None, None, "no weight is published"
    if not found.records:
        return 0.0, 0.0, "no weight tells what is blank, recoded, changed or left out"
    with_what = "one code only" if found.exactly == found.records else "one code, or a narrow range of codes,"
    return float(found.records), 0.0, (
        f"the weights of {found.records} records occur with {with_what} of {found.variable}, which the file shows less finely "
        "or changed"
    )  # fmt: skip


def _order(attacks: FileAttacks) -> Found:
    found = attacks.order
    if found is None:
        return None, None, "the order was not compared"
    how = "the records are in an order drawn by the secret" if found.shuffled else "the records were not shuffled"
    text = f"{how}; {found.neighbours:.2%} of neighbours were neighbours in the source"
    return (0.0 if found.gone else max(found.neighbours, abs(found.correlation))), 0.0, text
