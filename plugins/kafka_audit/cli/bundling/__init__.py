"""Bundles: one file of a snapshot and its report, written, read and imported."""
