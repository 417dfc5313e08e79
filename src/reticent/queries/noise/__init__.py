"""Modes that answer with noise."""
