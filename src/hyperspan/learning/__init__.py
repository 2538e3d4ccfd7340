"""Learn weights from annotated sentences."""
