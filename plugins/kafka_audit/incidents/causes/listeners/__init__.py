"""Causes in addresses and listeners."""
