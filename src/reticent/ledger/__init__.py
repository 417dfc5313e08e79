"""What was released before: an append-only, hash-chained store."""
