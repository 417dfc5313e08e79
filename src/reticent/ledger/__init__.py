# SPDX-License-Identifier: Apache-2.0
"""What was released before: an append-only, hash-chained, anchored store, one writer at a time."""
