"""The Sweeps page, and the dialog that plans a sweep."""
