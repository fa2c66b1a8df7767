"""What is secret: by its key, in which forms it comes back, and texts without it."""
