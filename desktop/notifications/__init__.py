"""Messages of the desktop, for someone who is looking elsewhere."""
