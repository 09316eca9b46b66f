"""Files that ship with the program: icon, sample candles, desktop entry, scripts that measure other charts."""
