"""Causes in logins and rights."""
