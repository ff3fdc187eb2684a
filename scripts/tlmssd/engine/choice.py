"""The engine that a command line asks for, in the same words for every command that runs things."""

import argparse
import contextlib
from pathlib import Path

from tlmssd.engine.pool import Pool, cluster_pool, local_pool, scheduler_pool


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """--jobs, --scheduler or --cluster, and --store."""
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="runs at a time on this machine (default: all processors)",
    )
    engine.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler that runs already")
    engine.add_argument(
        "--cluster",
        type=Path,
        metavar="FILE",
        help="a cluster by dask-jobqueue, such as Slurm (YAML)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        help="folder of known runs (default: TLMSSD_STORE, or the user's cache)",
    )


def positive(text: str) -> int:
    """A number of at least 1, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def engine(arguments: argparse.Namespace) -> contextlib.AbstractContextManager[Pool]:
    """The engine that the command line asks for."""
    if arguments.scheduler:
        return scheduler_pool(arguments.scheduler)
    if arguments.cluster:
        return cluster_pool(arguments.cluster)
    return local_pool(arguments.jobs)
