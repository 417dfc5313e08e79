# SPDX-License-Identifier: Apache-2.0
"""The exact auditor: what follows from everything answered so far, decided in exact arithmetic."""
