"""Recorded clusters as puzzles for tools and agents: ask each party, answer in words, be judged without names."""
