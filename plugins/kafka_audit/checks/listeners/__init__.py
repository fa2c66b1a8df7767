"""Advertised endpoints: who reaches them, and what they are."""
