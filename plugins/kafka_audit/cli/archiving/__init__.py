"""The class archive with which Spark starts faster: a small run in a process of its own loads the classes."""
