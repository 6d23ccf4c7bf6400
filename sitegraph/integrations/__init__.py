"""Retrievers for frameworks of others, over the public Python door; each needs the extra of its name."""
