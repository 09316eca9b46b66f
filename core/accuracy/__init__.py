"""How good a run's forecasts have been, horizon by horizon, kept up to date while it goes on. No Qt, no torch."""
