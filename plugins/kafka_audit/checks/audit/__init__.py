"""KA0xx: the audit itself: sources that were not read, missing rights."""
