"""What terminals and text files show."""
