"""Counts in many runs at a time with another framework that keeps every step in PostgreSQL.

Prints one line of JSON: the version, and steps per second. As many processes work as the machine
has cores, and every run has a thread and a connection.

usage: fleet_peers.py langgraph|dbos URL RUNS STEPS
"""

import importlib.metadata
import json
import multiprocessing
import os
import sys
import threading
import time
import uuid


class LangGraph:
    package = "langgraph"

    def __init__(self, url, threads):
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        self.pool = ConnectionPool(url, min_size=threads, max_size=threads, kwargs=settings)
        self.pool.wait()

    def prepare(self):
        from langgraph.checkpoint.postgres import PostgresSaver

        PostgresSaver(self.pool).setup()

    def count(self, steps):
        from typing import TypedDict

        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.graph import END, START, StateGraph

        class Counted(TypedDict):
            count: int

        graph = StateGraph(Counted)
        graph.add_node("counting", lambda counted: {"count": counted["count"] + 1})
        graph.add_edge(START, "counting")
        graph.add_conditional_edges(
            "counting", lambda counted: "counting" if counted["count"] < steps else END
        )
        # One for each run: threads that share one wait for its lock.
        app = graph.compile(checkpointer=PostgresSaver(self.pool))
        thread = {"thread_id": str(uuid.uuid4())}
        config = {"configurable": thread, "recursion_limit": steps + 10}
        return app.invoke({"count": 0}, config, durability="sync")["count"]

    def close(self):
        self.pool.close()


class Dbos:
    package = "dbos"

    def __init__(self, url, threads):
        from dbos import DBOS

        @DBOS.step()
        def counting(count: int) -> int:
            return count + 1

        @DBOS.workflow()
        def counter(steps: int) -> int:
            count = 0
            for _ in range(steps):
                count = counting(count)
            return count

        self.dbos, self.counter = DBOS, counter
        DBOS(
            config={
                "name": "bench",
                "system_database_url": url,
                "sys_db_pool_size": threads + 2,
                "executor_id": str(os.getpid()),
                "application_version": "1",
                "log_level": "ERROR",
            }
        )
        DBOS.launch()

    def prepare(self):
        pass

    def count(self, steps):
        return self.counter(steps)

    def close(self):
        self.dbos.destroy()


PEERS = {"langgraph": LangGraph, "dbos": Dbos}


def work(which, url, runs, steps, ready, times):
    peer = PEERS[which](url, runs)
    peer.count(3)
    ready.wait()
    started = time.monotonic()
    counts = []
    count = lambda: counts.append(peer.count(steps))
    threads = [threading.Thread(target=count) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.put((started, time.monotonic(), sum(counts)))
    peer.close()


def main():
    which, url, runs, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if which not in PEERS:
        sys.exit(f"there is no peer {which!r}")
    peer = PEERS[which](url, 1)
    peer.prepare()
    peer.close()
    spawn = multiprocessing.get_context("spawn")
    processes = min(runs, os.cpu_count())
    parts = [runs // processes + (part < runs % processes) for part in range(processes)]
    ready, times = spawn.Barrier(processes), spawn.Queue()
    workers = [
        spawn.Process(target=work, args=(which, url, part, steps, ready, times), daemon=True)
        for part in parts
    ]
    for worker in workers:
        worker.start()
    took = [times.get() for _ in workers]
    for worker in workers:
        worker.join()
    counted = sum(count for _, _, count in took)
    if counted != runs * steps:
        sys.exit(f"{which} counted to {counted} and not to {runs * steps}")
    seconds = max(end for _, end, _ in took) - min(start for start, _, _ in took)
    version = importlib.metadata.version(PEERS[which].package)
    print(json.dumps({"version": version, "steps_per_s": counted / seconds}))


if __name__ == "__main__":
    main()
