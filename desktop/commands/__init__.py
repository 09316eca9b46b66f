"""One module per group of sub-commands of `ghostcandle`."""
