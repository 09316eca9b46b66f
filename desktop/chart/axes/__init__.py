"""How times and values become pixels, and the round ones that are marked."""
