"""The journal: what is appended while matches are played, and what is found in it afterwards."""
