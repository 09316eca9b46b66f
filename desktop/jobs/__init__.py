"""Long work: the one list of it, the child processes that do it, and what starts them."""
