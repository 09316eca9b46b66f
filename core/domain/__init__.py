"""The values that everything else is about: candles, markets, events, moments. No input or output."""
