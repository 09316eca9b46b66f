"""The parts of Ghostcandle that know no window: markets, forecasts, training, storage."""
