"""Risk measures, masking methods and loss measures for microdata files."""
