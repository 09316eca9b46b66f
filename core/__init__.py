"""The parts of Ghostcandle without a user interface: markets, forecasts, training, storage."""
