# SPDX-License-Identifier: Apache-2.0
"""`python -m reticent`: the same as the command `reticent`."""

from reticent.cli.main import run

run()
