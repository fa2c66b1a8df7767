"""Producers of other people, to be run while something breaks: each tells of every record what became of it."""
