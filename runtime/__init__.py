"""The runtime: a model, an identity and a circle make an entity, and all it does a loom."""
