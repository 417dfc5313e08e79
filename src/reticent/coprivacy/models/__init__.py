"""The models of the source as games: social networks, repeated disclosure, peer-to-peer search, vehicles, expiry."""
