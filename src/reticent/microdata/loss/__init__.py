# SPDX-License-Identifier: Apache-2.0
"""Information loss: what a masked file can no longer tell. `compare` gives all measures in one call."""

from reticent.microdata.loss.compare import Classification, Regression, compare
from reticent.microdata.loss.measure import Definition, LossReport, Measure

__all__ = ["Classification", "Definition", "LossReport", "Measure", "Regression", "compare"]
