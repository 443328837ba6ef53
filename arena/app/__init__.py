"""One arena process: its composition root, its data folder, backup and retention."""
