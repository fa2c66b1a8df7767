"""Changes of a metadata quorum: what must hold before, the steps with what breaks halfway, and what is checked after. Pure."""
