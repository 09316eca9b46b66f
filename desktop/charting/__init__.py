"""Between the chart and the rest of the window: what its menu does, what it remembers, what it is fed."""
