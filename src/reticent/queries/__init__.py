"""The query language, its rules, the auditor, camouflage and the analysis server."""
