#!/usr/bin/env python3
"""Start a run over HTTP, approve what it asks, and print the result: by polling, with `requests` alone.

    pip install requests
    pointsman serve &
    python3 start_run.py research "Where is the loop rule proved?"
"""

import argparse
import json
import pathlib
import sys
import time
import uuid

import requests


class Pointsman:
    """The few calls that this example needs."""

    def __init__(self, server, token):
        self.base = f"{server}/api/v1"
        self.http = requests.Session()
        if token:
            self.http.headers["Authorization"] = f"Bearer {token}"

    def call(self, method, path, body=None, late=(), **headers):
        """Sends a request. A status in `late` says that somebody else was faster, which is no error."""
        reply = self.http.request(
            method, self.base + path, json=body, headers=headers, timeout=60
        )
        if not reply.ok and reply.status_code not in late:
            problem = reply.json()
            sys.exit(f"error: {problem['detail']}\nhint: {problem.get('hint')}")
        return reply.json()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("chart", help="a chart file, or the name of a shipped agent")
    arguments.add_argument("goal")
    arguments.add_argument("--server", default="http://127.0.0.1:7100")
    arguments.add_argument("--token", help="a token of `pointsman token create`")
    given = arguments.parse_args()

    pointsman = Pointsman(given.server, given.token)
    body = {"goal": given.goal}
    if given.chart.endswith(".toml"):
        body["chart"] = pathlib.Path(given.chart).read_text()
    else:
        body["agent"] = given.chart
    # Repeating a request with the same key never starts a second run.
    run = pointsman.call("POST", "/runs", body, **{"Idempotency-Key": str(uuid.uuid4())})["run"]

    answered = set()
    while True:
        state = pointsman.call("GET", f"/runs/{run}")
        for question in state["questions"]:
            # A real program would show the call to a person first.
            if question["question"] not in answered:
                answered.add(question["question"])
                answer = {"question": question["question"]}
                pointsman.call("POST", f"/runs/{run}/approve", answer, late=(404, 409))
        if state["disposition"]:
            break
        time.sleep(0.2)

    print(json.dumps({key: state[key] for key in ("run", "disposition", "result")}))
    sys.exit(0 if state["disposition"] == "succeeded" else 1)


if __name__ == "__main__":
    main()
