"""Games in which the best way to keep one's own privacy is to help somebody else keep theirs."""
