# SPDX-License-Identifier: Apache-2.0
"""The pages of the workbench, one file each. A new page is its file and one line here, in the order of the list of steps."""

from reticent.web.site import Page
from reticent.workbench.pages import (
    audit,
    data,
    describe,
    explore,
    hierarchies,
    ledger,
    plan,
    protect,
    queries,
    release,
    risk,
    table,
)

PAGES: tuple[Page, ...] = (
    data.PAGE,
    describe.PAGE,
    hierarchies.PAGE,
    risk.PAGE,
    explore.PAGE,
    plan.PAGE,
    protect.PAGE,
    table.PAGE,
    audit.PAGE,
    queries.PAGE,
    release.PAGE,
    ledger.PAGE,
)
