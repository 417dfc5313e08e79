"""The exact auditor: what follows from everything answered so far, decided in exact arithmetic."""
