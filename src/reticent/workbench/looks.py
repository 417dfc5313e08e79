# SPDX-License-Identifier: Apache-2.0
"""How the columns of the project's data look: asked once for each state of data and schema."""

from reticent.web.site import Visit
from reticent.web.work import Work
from reticent.workbench import engine
from reticent.workbench.project import Project


def looked(visit: Visit[Project], *, values: bool = False) -> Work:
    """The work that looks at the data; with `values` (only after "show values") their first records come along."""
    project = visit.state
    shown = values and visit.show_values
    return visit.works.ask(engine.look, *project.data_question(), shown, title="Looking at the data")
