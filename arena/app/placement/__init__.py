"""Places processes of `arena worker` on an engine that runs programs on other machines: Dask, Ray, SLURM, Kubernetes.

An engine is imported when it is named. No result of a match passes through an engine: workers connect to the arena
themselves, and the engine knows of each only that it runs, and why it has ended.
"""
