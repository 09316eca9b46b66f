"""From index and price to pixels and back, and the round numbers between."""
