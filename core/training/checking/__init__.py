"""Checks a user's own model: the contract of every challenger, and whether it sees the future."""
