"""Errors, checks, randomness, progress, optional imports: knows nothing about disclosure control."""
