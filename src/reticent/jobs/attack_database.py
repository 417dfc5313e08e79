# SPDX-License-Identifier: Apache-2.0
"""Attack copies of a database with the whole catalogue. The real ledger is neither read nor written."""

from pathlib import Path

from reticent.base.errors import ParameterError
from reticent.base.progress import Progress, silent
from reticent.data.microdata import Microdata
from reticent.jobs.answer_query import read_version
from reticent.jobs.database_file import read_database_file
from reticent.queries.attacks.catalogue import AttackReport, Finding, run_catalogue
from reticent.queries.attacks.scenario import establishments, scenario_from
from reticent.queries.modes import MODES
from reticent.queries.policy import Policy

__all__ = ["AttackReport", "Finding", "attack_database"]


def attack_database(
    source: Microdata | Path | str | None,
    *,
    policy: Policy | None = None,
    response: str | None = None,
    progress: Progress = silent,
) -> AttackReport:
    """Attack the current version of a database in its mode, and in the open mode to show what the attacks can do.

    `source` is a database file, which has its own policy, or records with a `policy`; None: generated establishments, which
    are attacked in every mode.
    """
    if source is None:
        if policy is not None or response is not None:
            raise ParameterError(
                "attack: a response or policy needs a database; the generated firms have one response."
            )
        return run_catalogue(establishments(), modes=tuple(MODES), progress=progress)
    if isinstance(source, Microdata) == (policy is None):
        raise ParameterError("attack_database: records need a policy; a database file has its own, give no other.")
    if isinstance(source, Microdata):
        assert policy is not None
        return run_catalogue(scenario_from(source, policy, response=response), progress=progress)
    file = read_database_file(Path(source))
    scenario = scenario_from(read_version(file, file.data), file.policy, response=response)
    return run_catalogue(scenario, progress=progress)
