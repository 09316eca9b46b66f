"""What a disk, a desktop, another version or a stranger may do to the program: each made for real, each answered."""
