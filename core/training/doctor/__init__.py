"""The gradient doctor: what the last few hundred steps say of the training, and the one change that fits."""
