"""Seeded torture of the chart and of the whole window: ticks, candles in any order, mouse, keys, sizes, settings.

GHOSTCANDLE_TORTURE=SEED replays the inputs of a run whose seed a failure has told.
"""
