"""Evaluation of a run's forecasts: for `evaluate`, `metrics`, `headless` and the Accuracy dock. No Qt, no torch."""
