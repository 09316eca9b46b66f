"""Batched rectangles, candle shapes and text, in device pixels."""
