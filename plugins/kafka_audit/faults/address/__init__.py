"""An address that cannot be reached, or that another program answers."""
