"""Counts to N with another framework that keeps every step, and tells what a step took.

Prints one line of JSON: the version, and microseconds per step.

usage: peers.py langgraph-sync|langgraph-async|burr FOLDER STEPS
"""

import importlib.metadata
import json
import sys
import time
from pathlib import Path


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def langgraph(folder, steps, durability):
    from typing import TypedDict

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    class Counted(TypedDict):
        count: int

    graph = StateGraph(Counted)
    graph.add_node("counting", lambda counted: {"count": counted["count"] + 1})
    graph.add_edge(START, "counting")
    graph.add_conditional_edges(
        "counting", lambda counted: "counting" if counted["count"] < steps else END
    )
    with SqliteSaver.from_conn_string(str(folder / f"langgraph-{durability}.db")) as saver:
        app = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "one"}, "recursion_limit": steps + 10}
        took, end = timed(lambda: app.invoke({"count": 0}, config, durability=durability))
    return "langgraph", took, end["count"]


def burr(folder, steps):
    from burr.core import ApplicationBuilder, State, action, default, expr
    from burr.core.persistence import SQLitePersister

    @action(reads=["count"], writes=["count"])
    def counting(state: State) -> State:
        return state.update(count=state["count"] + 1)

    @action(reads=["count"], writes=[])
    def done(state: State) -> State:
        return state

    keeper = SQLitePersister(str(folder / "burr.db"), "state")
    keeper.initialize()
    app = (
        ApplicationBuilder()
        .with_actions(counting=counting, done=done)
        .with_transitions(
            ("counting", "counting", expr(f"count < {steps}")), ("counting", "done", default)
        )
        .with_state(count=0)
        .with_entrypoint("counting")
        .with_state_persister(keeper)
        .with_identifiers(app_id="one", partition_key="bench")
        .build()
    )
    took, (_, _, state) = timed(lambda: app.run(halt_after=["done"]))
    keeper.connection.close()
    return "apache-burr", took, state["count"]


def main():
    which, folder, steps = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if which == "burr":
        package, took, count = burr(folder, steps)
    elif which in ("langgraph-sync", "langgraph-async"):
        package, took, count = langgraph(folder, steps, which.partition("-")[2])
    else:
        sys.exit(f"there is no peer {which!r}")
    if count != steps:
        sys.exit(f"{which} counted to {count} and not to {steps}")
    version = importlib.metadata.version(package)
    print(json.dumps({"version": version, "us_per_step": took / steps * 1e6}))


if __name__ == "__main__":
    main()
