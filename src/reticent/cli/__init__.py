"""The command line: parse, call a job, show."""
