"""Checks a model that is brought along: what every challenger must keep, and whether it sees the future."""
