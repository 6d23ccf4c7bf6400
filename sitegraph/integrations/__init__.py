"""Retrievers for frameworks of others, over the public Python API; each needs the extra of its name."""
