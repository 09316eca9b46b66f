"""The Accuracy dock: skill with its interval, coverage, experts, and the answers at its top."""
