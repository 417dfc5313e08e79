# SPDX-License-Identifier: Apache-2.0
"""Search logs in which every user is one of k: classified by meaning, clustered, and aggregated to pseudo-users."""
