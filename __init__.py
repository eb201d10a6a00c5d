"""circlet."""
