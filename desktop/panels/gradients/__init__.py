"""The Gradients dock: the doctor's verdict, the norms, and what each layer received."""
