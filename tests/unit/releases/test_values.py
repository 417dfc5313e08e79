"""Values that come and go with people who move: rectangles that keep every sum."""

from itertools import product

import numpy as np
import polars as pl

from reticent.data.facts import COUNT, Fact, Facts, Term
from reticent.data.microdata import Microdata
from reticent.data.response_relations import parse_relation
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.history.scene import Scene
from reticent.releases.dealing import Dealer
from reticent.releases.pool import Movement
from reticent.tabulation.ground import ground_of
from reticent.tabulation.tied_facts import with_spare
from reticent.tabulation.tied_responses import Tie

PEOPLE = {("x", "m"): (9, 9, 9), ("x", "f"): (), ("y", "m"): (9, 8), ("y", "f"): (7, 9)}


def test_somebody_who_moves_to_where_nobody_is_brings_a_value() -> None:
    rows = [(a, b, float(pay)) for (a, b), own in PEOPLE.items() for pay in own]
    frame = pl.DataFrame(rows, schema=["a", "b", "pay"], orient="row")
    keys = [Variable("a", role=Role.KEY, codes=("x", "y")), Variable("b", role=Role.KEY, codes=("m", "f"))]
    data = Microdata.of(frame, Schema((*keys, Variable("pay", kind=Kind.NUMERIC))))
    ties = (Tie(parse_relation("count <= pay")),)
    grounded = with_spare(ground_of(data, ("a", "b"), responses=("pay",)), ties)
    ground = grounded.ground
    facts = []
    for column, code in product((0, 1), (0, 1)):
        own = np.flatnonzero(ground.codes[ground.atoms_of("pay"), column] == code)
        facts.append(Fact.exact((Term.total("pay", own),), int(grounded.truth("pay")[own].sum())))
    told = Facts("sums by a", tuple(facts[:2])), Facts("sums by b", tuple(facts[2:]))
    scene = Scene({}, grounded, ties, {}, told)
    _, related, _ = scene.told()
    system = scene.system([related, *told])
    system.accept(Facts("people", (Fact.exact((Term.total(COUNT, np.arange(4)),), grounded.ground.n_units),)))
    (part,) = system.parts.values()
    dealer = Dealer(part.system, *part.system.class_bounds())
    a, b = ground.categories
    wanted = [(a.index("x"), b.index(sex)) for sex in "mf"]
    atoms = [int(np.flatnonzero((ground.codes == codes).all(axis=1))[0]) for codes in wanted]
    start = part.system.layout.starts[COUNT]
    classes = part.system.classes.of[[start + atom for atom in atoms]]
    order = np.argsort(classes)
    movement = Movement(classes[order], np.array([-1, 1])[order])
    assert not dealer.fits(movement), "nobody is in x × f without pay"
    found = dealer.with_values(movement)
    assert found is not None
    assert dealer.fits(found)
    assert len(found.classes) == 6, "two classes of people, four of pay"
