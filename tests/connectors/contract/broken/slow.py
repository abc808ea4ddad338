"""Takes its time to start."""

import time

from tests.connectors.contract.broken.plain import Plain

time.sleep(1)


class Broken(Plain):
    pass


if __name__ == "__main__":
    Broken().run()
