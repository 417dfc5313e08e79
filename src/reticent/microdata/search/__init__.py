"""Search over coarser codings: which levels of which hierarchies make a file safe at the least loss."""
