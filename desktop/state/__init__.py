"""The window's state of the run, the feed, the jobs and the quotes: one owner each. Panels only read it."""
