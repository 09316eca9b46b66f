"""How good a run's forecasts were: for `evaluate`, `metrics`, `headless` and the Accuracy dock. No Qt, no torch."""
