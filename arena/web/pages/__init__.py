"""The pages that are words and tables: what there is to watch, and who is better."""
