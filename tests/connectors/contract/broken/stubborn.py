"""Does not go when it is told to."""

import signal
import time

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def run(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().run()
        time.sleep(60)


if __name__ == "__main__":
    Broken().run()
