"""`python -I -S launch.py SOCKET -m MODULE`, or a script: lends its pipes to a forked connector, ends as it does."""

import json
import os
import socket
import sys
from array import array


def main(server: str, *words: str) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        wanted = {"words": words, "environment": dict(os.environ), "cwd": os.getcwd()}  # noqa: PTH109 - Importing pathlib would take longer than all the rest.
        asked = json.dumps(wanted).encode()
        header = len(asked).to_bytes(4, "big")
        connection.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [0, 1, 2]))])
        connection.sendall(asked)
        for fd in (0, 1, 2):
            os.close(fd)
        ended = connection.recv(1)
        return ended[0] if ended else 1


os._exit(main(*sys.argv[1:]))
