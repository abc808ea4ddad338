"""Serves a small model in OpenAI's wire format until its standard input is closed. Run as a program of its own."""

import sys
from importlib import import_module
from typing import Any


def serve(path: str, name: str, key: str) -> None:
    llama: Any = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = path
    params.model_alias = {name}
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.warmup = False
    server = llama.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:4])
