"""How fast the real chart is: `python -m tests.benchmarks chart`."""
