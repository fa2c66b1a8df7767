"""What the audit itself could not see."""
