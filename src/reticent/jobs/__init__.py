"""The use cases: plain functions that every door calls."""
