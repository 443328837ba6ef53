"""Places processes of `arena worker` on an engine that runs programs on other machines: Dask, Ray, SLURM, Kubernetes.

An engine is imported when it is named. No result of a match travels by an engine: workers dial the arena themselves, and
the engine hears of each only that it runs, and why it has ended.
"""
