"""Where runs are carried out: threads of this process, processes, or a Dask cluster."""

from tlmssd.engine.pool import Pool, cluster_pool, local_pool, scheduler_pool, thread_pool

__all__ = ["Pool", "cluster_pool", "local_pool", "scheduler_pool", "thread_pool"]
