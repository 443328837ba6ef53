"""The view models of the pages, made from the archive."""
