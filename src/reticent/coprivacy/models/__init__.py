# SPDX-License-Identifier: Apache-2.0
"""The models of the source as games: social networks, repeated disclosure, peer-to-peer search, vehicles, expiry."""
