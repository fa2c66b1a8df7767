"""Causes on disks, and replicas that are missing."""
