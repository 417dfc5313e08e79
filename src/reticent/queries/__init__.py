# SPDX-License-Identifier: Apache-2.0
"""The query language, its rules, the auditor, camouflage and the analysis server."""
