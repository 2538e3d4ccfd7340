"""Integrations with spaCy and Arrow (and the engines that use it). Each is loaded only when it is imported."""
