"""The trajectory: one stream of events a run, from which every request to a model is rebuilt."""
