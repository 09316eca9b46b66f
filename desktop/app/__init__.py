"""The composition root: builds every part once, connects them, and takes them down in order."""
