"""The Events dock: incidents, the feed's events and the log in one list, and the feed's numbers."""
