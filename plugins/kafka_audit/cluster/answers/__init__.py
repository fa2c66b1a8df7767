"""Which observers were asked, what they answered, and what is not known."""
