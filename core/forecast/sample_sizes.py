"""How many scored candles a figure needs before it is shown, and before it can prove an edge."""

from __future__ import annotations

FEWEST_FOR_AN_ESTIMATE = 30
"""With fewer no share or skill is shown: 85 % of seven candles is not an accuracy."""
FEWEST_FOR_AN_EDGE = 300
"""For an edge that is judged once, after a whole record."""
BLOCK = 50
"""Candles in a block of a confidence sequence, which is evaluated at every candle."""
FEWEST_BLOCKS = 15
"""With fewer blocks their deviation is too uncertain for the asymptotic result."""
FEWEST_FOR_A_PROOF = BLOCK * FEWEST_BLOCKS
"""For an edge that is judged at every candle."""
