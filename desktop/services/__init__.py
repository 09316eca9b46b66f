"""What lives longer than a widget: the run, the worker thread, the market feed, loaders, backups, watchers."""
