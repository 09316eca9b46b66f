"""What the program tells of its own work: where the lines go, and how they are read back."""
