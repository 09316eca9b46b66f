"""Candles, where they come from, and what is accepted as one."""
