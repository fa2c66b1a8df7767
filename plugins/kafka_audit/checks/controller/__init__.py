"""The controller, its epochs, and leaders that moved."""
