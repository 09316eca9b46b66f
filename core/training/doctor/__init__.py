"""The gradient doctor: diagnoses the training from the last few hundred steps, and names the one change that helps."""
