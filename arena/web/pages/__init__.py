"""Functions that give the values of pages, from the archive."""
