# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of perturbation on plain arrays: the methods in `mask` bind it to files and secrets."""
