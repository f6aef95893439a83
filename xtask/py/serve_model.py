"""Serves a model on loopback, as OpenAI's chat completions, until its input closes.

Whoever starts it holds the other end of its standard input. The input closes when they
let go of it or when they die, so the server never outlives them.

usage: serve_model.py MODEL PORT [--context N] [--slots N] [--threads N]
"""

import argparse
import os
import sys
import threading
from pathlib import Path

import xllamacpp


def leave_with_the_input():
    while sys.stdin.buffer.read(4096):
        pass
    # The server's own threads are not asked: they may be in the middle of a reply.
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("port", type=int)
    parser.add_argument("--context", type=int, default=16384, help="tokens, over all slots")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    # First of all, so that it ends even while a model is being loaded.
    threading.Thread(target=leave_with_the_input, daemon=True).start()
    params = xllamacpp.CommonParams()
    params.model.path = asked.model
    params.hostnames = ["127.0.0.1"]
    params.port = asked.port
    params.n_ctx = asked.context
    params.n_parallel = asked.slots
    params.use_jinja = True
    params.cpuparams.n_threads = asked.threads
    params.chat_template = Path(__file__).with_name("template.jinja").read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
