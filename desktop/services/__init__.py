"""Objects that outlive widgets: the run, the worker thread, the market feed, loaders, backups, watchers."""
