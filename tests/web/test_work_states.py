"""A piece of work: its first word counts, its error is raised, and how far it is stays within bounds."""

import pytest

from reticent.base.errors import Cancelled, DataError, ReticentError
from reticent.web.work import Work, Works


def test_work_runs_until_it_is_said_to_be_over() -> None:
    work = Work("Protecting")
    assert work.running
    assert not work.done
    assert work.seconds >= 0
    with pytest.raises(ReticentError, match="nothing was changed"):
        work.value()
    work.end("done", result={"cells": 3})
    assert work.done
    assert not work.running
    assert work.value() == {"cells": 3}


def test_the_first_word_counts() -> None:
    work = Work("Protecting")
    work.end("cancelled", error=Cancelled("The work was stopped; nothing was written."))
    work.end("done", result=1)
    assert work.state == "cancelled"
    assert work.result is None
    with pytest.raises(Cancelled, match="nothing was written"):
        work.value()


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    work = Work("Reading")
    work.end("failed", error=DataError("x.csv: there is no such file."))
    with pytest.raises(DataError, match="no such file"):
        work.value()


@pytest.mark.parametrize(("share", "percent"), [(-1.0, 0), (0.0, 0), (0.256, 26), (1.0, 100), (7.0, 100)])
def test_percent_stay_between_0_and_100(share: float, percent: int) -> None:
    work = Work("Protecting")
    work.share = share
    assert work.percent == percent


def test_the_clock_stops_at_the_end() -> None:
    work = Work("Protecting")
    work.end("done")
    assert work.seconds == work.seconds
    work.wait(60.0)  # over already, so nobody waits


def test_ids_are_long_and_different_and_unknown_ones_are_nobody() -> None:
    first, second = Work("a"), Work("a")
    assert first.id != second.id
    assert len(first.id) == 16
    works = Works()
    assert works.find("nothing") is None
    works.cancel("nothing")
    assert works.seen(print, 1) is None


def test_work_that_ends_while_a_page_is_made_stays_what_the_page_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    works = Works()
    live = Work("Making the table")
    monkeypatch.setattr(works, "_start", lambda key, *_: works._kept.setdefault(key, live))
    asked = works.ask(print, 1, patience=0)
    seen = works.seen(print, 1)
    live.end("done", result="cells")
    assert seen is not None
    assert asked.running
    assert seen.running
    later = works.seen(print, 1)
    assert later is not None
    assert later.value() == "cells"
    assert works.find(asked.id) is live
