"""Cases that fail on purpose, for the tests of the runner."""

import os
import time

from .outcome import CaseError, CheckError


class Faults:
    """Case 1 hangs, 2 ends the process, 3 waits without end, 4 needs too much memory, 5 fails."""

    name = "faults"

    @staticmethod
    def run(seed, number):
        if number == 1:
            while True:
                pass
        if number == 2:
            os._exit(3)
        if number == 3:
            time.sleep(1000)
        if number == 4:
            bytearray(1 << 40)
        if number == 5:
            raise CaseError("number", CheckError("five"))
        return "faults", "fitted", (), ()

    @staticmethod
    def kinds(seed, number):
        return "faults", []

    @staticmethod
    def shrink(seed, number, key, seconds):
        return f"print({number})", "five", []

    @staticmethod
    def show(seed, number):
        return f"print({number})"
