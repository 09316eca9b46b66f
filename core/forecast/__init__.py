"""What turns closed candles into forecasts and scores them. NumPy only: no torch, no Qt."""
