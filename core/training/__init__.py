"""Training: pretraining, hosting, the online session, recovery, the engine and the gradient doctor."""
