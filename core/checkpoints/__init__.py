"""Browsing stored checkpoints: columns, the filter language, comparison, export and import. No torch."""
