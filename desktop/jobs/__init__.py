"""Background jobs: their list, their child processes, and the dialogs that start them."""
