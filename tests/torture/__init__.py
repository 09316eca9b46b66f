"""Seeded random testing of the chart and the complete window: ticks, candles in any order, mouse, keys, sizes,
settings.

GHOSTCANDLE_TORTURE=SEED replays the inputs of a failed run, whose message contains the seed.
"""
