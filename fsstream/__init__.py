"""Select features from streams too wide and too long for anything else."""

__version__ = "0.1.0"
