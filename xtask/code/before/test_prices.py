"""The tests write down when they begin and end, so that others can count them."""

import os
import time
import unittest

import prices


def write_down(word):
    with open("tests.log", "a", encoding="utf-8") as log:
        log.write(word + "\n")


def setUpModule():
    write_down("begin")
    for _ in range(600):
        # For as long as this file is there, they take long: time to be killed in.
        if not os.path.exists("linger"):
            break
        time.sleep(0.1)


def tearDownModule():
    write_down("end")


class Total(unittest.TestCase):
    def test_every_price_counts(self):
        self.assertEqual(prices.total([100, 250]), 350)


if __name__ == "__main__":
    unittest.main()
