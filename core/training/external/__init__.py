"""A forecaster in a process: lines of JSON over its stdin and stdout. See docs/own-program.md. No torch."""
