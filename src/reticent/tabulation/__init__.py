"""Microdata and a table specification to a table with its relations."""
