# SPDX-License-Identifier: Apache-2.0
"""What was released of a data set: recipes in the ledger, from which the facts of each release are stated again."""
