"""The results of `evaluate` as text and as a page with plots. No Qt, no torch, no network."""
