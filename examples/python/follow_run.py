#!/usr/bin/env python3
"""Start a run over HTTP, follow it as server-sent events, approve what it asks, and print the result.

Needs `requests` and `sseclient-py`:

    pip install requests sseclient-py
    pointsman serve &
    python3 follow_run.py note.toml "Hello"
"""

import argparse
import json
import pathlib
import sys
import time
import uuid

import requests
import sseclient

# Seconds between two attempts, and how many there are.
PAUSE = 1
ATTEMPTS = 60


def events(base, run, headers):
    """Yields the events of a run, and reconnects where the stream was cut."""
    last = None
    while True:
        resume = {"Last-Event-ID": last} if last else {}
        url = f"{base}/api/v1/runs/{run}/events"
        reply = patiently(requests.get, url, stream=True, headers={**headers, **resume})
        with reply:
            reply.raise_for_status()
            if reply.status_code == 204:  # The run has ended, and we have every item.
                return
            stream = sseclient.SSEClient(reply).events()
            while True:
                # Only what reads the stream may fail here, not what handles an event.
                try:
                    event = next(stream, None)
                except requests.exceptions.RequestException as cut:
                    print(f"reconnecting: {cut}", file=sys.stderr)
                    break
                if event is None:
                    break
                last = event.id or last
                yield event.event, json.loads(event.data)
        time.sleep(PAUSE)


def patiently(send, url, **options):
    """Sends a request again while the server does not answer: it may be restarting."""
    for attempt in range(ATTEMPTS):
        try:
            reply = send(url, timeout=60, **options)
            # 503: the server is stopping, or its store does not answer.
            if reply.status_code != 503 or attempt == ATTEMPTS - 1:
                return reply
            why = "503"
        except requests.exceptions.RequestException as error:
            if attempt == ATTEMPTS - 1:
                sys.exit(f"error: the server does not answer: {error}")
            why = error
        print(f"trying again: {why}", file=sys.stderr)
        time.sleep(PAUSE)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("chart", help="a chart file, or the name of a shipped agent")
    arguments.add_argument("goal")
    arguments.add_argument("--server", default="http://127.0.0.1:7100")
    arguments.add_argument("--token", help="a token of `pointsman token create`")
    arguments.add_argument("--model")
    given = arguments.parse_args()
    headers = {"Authorization": f"Bearer {given.token}"} if given.token else {}

    body = {"goal": given.goal}
    if given.chart.endswith(".toml"):
        body["chart"] = pathlib.Path(given.chart).read_text()
    else:
        body["agent"] = given.chart
    if given.model:
        body["model"] = given.model
    # Repeating a request with the same key never starts a second run.
    key = {"Idempotency-Key": str(uuid.uuid4())}
    started = patiently(
        requests.post, f"{given.server}/api/v1/runs", json=body, headers={**headers, **key}
    )
    if not started.ok:
        problem = started.json()
        sys.exit(f"error: {problem['detail']}\nhint: {problem.get('hint')}")
    run = started.json()["run"]
    print(f"run {run}", file=sys.stderr)

    for name, data in events(given.server, run, headers):
        if name == "delta":
            print(data["text"], end="", flush=True, file=sys.stderr)
        elif name == "item" and data["kind"] == "transition":
            print(f"{data['from']} -> {data['to']} ({data['reason']})", file=sys.stderr)
        elif name == "item" and data["kind"] == "asked":
            # A real program would show the call to a person first.
            print(f"approving {data.get('call') or data.get('text')}", file=sys.stderr)
            answer = patiently(
                requests.post,
                f"{given.server}/api/v1/runs/{run}/approve",
                json={"question": data["effect"], "reason": "approved by follow_run.py"},
                headers=headers,
            )
            # 404 and 409: somebody else has answered, or the run has ended.
            if answer.status_code not in (404, 409):
                answer.raise_for_status()

    ended = patiently(requests.get, f"{given.server}/api/v1/runs/{run}", headers=headers).json()
    print(json.dumps({key: ended[key] for key in ("run", "disposition", "result")}))
    sys.exit(0 if ended["disposition"] == "succeeded" else 1)


if __name__ == "__main__":
    main()
