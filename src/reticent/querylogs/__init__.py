"""Search logs in which every user is one of k: classified by meaning, clustered, and aggregated to pseudo-users."""
