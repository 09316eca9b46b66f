"""What `evaluate` found, in words and as a page with plots. No Qt, no torch, no network."""
