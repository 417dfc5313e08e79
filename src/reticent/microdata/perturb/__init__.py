"""The arithmetic of perturbation on plain arrays: the methods in `mask` bind it to files and secrets."""
