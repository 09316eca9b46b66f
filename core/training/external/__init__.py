"""A forecaster in a process: lines of JSON over its stdin and stdout. See docs/your-own-model.md. No torch."""
