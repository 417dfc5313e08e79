# SPDX-License-Identifier: Apache-2.0
"""The analysis server: universes, cutpoints, subsamples, regression rules and synthetic residuals (Lucero et al. 2011)."""
