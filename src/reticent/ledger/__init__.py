"""What was released before: an append-only, hash-chained, anchored store, one writer at a time."""
