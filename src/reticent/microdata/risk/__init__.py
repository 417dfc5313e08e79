"""Disclosure risk per record, per household, per file."""
