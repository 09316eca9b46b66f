"""The pyqtgraph items and the layers that they draw: candles, ghosts, indicators, lines, drawings ..."""
