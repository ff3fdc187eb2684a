"""Where runs are carried out: threads of this process, processes, or a Dask cluster."""

from tlmssd.engine.choice import add_engine_arguments, engine, positive
from tlmssd.engine.pool import Pool, cluster_pool, local_pool, scheduler_pool, thread_pool

__all__ = [
    "Pool",
    "add_engine_arguments",
    "cluster_pool",
    "engine",
    "local_pool",
    "positive",
    "scheduler_pool",
    "thread_pool",
]
