# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of how the comparison survives a peer that crashes or hangs."""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "benchmark", "gpu"))
import supervise


class Supervision(unittest.TestCase):
    def setUp(self):
        self.notes = []
        self.supervisor = supervise.Supervisor([sys.executable, os.path.join(HERE, "Inputs", "fake-worker.py")],
                                               self.notes.append, silence_s=3.0)
        self.addCleanup(self.supervisor.end)

    def row(self, *peers, seconds=60.0):
        measurements, done = self.supervisor.row({"peers": peers}, time.monotonic() + seconds)
        return {(one["peer"] + " " + one["configuration"]).strip(): one for one in measurements}, done

    def test_all_well(self):
        first, done = self.row("fp8 a", "triton")
        second, _ = self.row("fp8 a")
        self.assertTrue(done)
        self.assertEqual(set(first), {"fp8 a", "triton"})
        self.assertEqual(first["fp8 a"]["pid"], second["fp8 a"]["pid"])

    def test_a_crash_loses_only_its_peer(self):
        found, done = self.row("fp8 a", "fp8 crash", "fp8 b")
        self.assertTrue(done)
        self.assertEqual(set(found), {"fp8 a", "fp8 crash", "fp8 b"})
        self.assertEqual(found["fp8 crash"]["error"], "the process ended with status 4")
        self.assertFalse(found["fp8 crash"]["right"])
        self.assertEqual(found["fp8 a"]["pid"], found["fp8 b"]["pid"])  # both of the second attempt

    def test_what_it_said_is_kept(self):
        found, done = self.row("fp8 told", "fp8 b")
        self.assertTrue(done)
        self.assertEqual(found["fp8 told"]["error"], "illegal address")
        self.assertTrue(found["fp8 b"]["right"])

    def test_a_hang_loses_only_its_peer(self):
        found, done = self.row("fp8 hang", "fp8 b")
        self.assertTrue(done)
        self.assertEqual(found["fp8 hang"]["error"], "silent for 3 s")
        self.assertTrue(found["fp8 b"]["right"])

    def test_out_of_time(self):
        found, done = self.row("fp8 a", "fp8 hang", "fp8 b", seconds=1.0)
        self.assertFalse(done)
        self.assertEqual(set(found), {"fp8 a"})
        self.assertIn("fp8 hang: out of time", self.notes)

    def test_no_start(self):
        os.environ["FAKE_NO_START"] = "1"
        self.addCleanup(os.environ.pop, "FAKE_NO_START")
        with self.assertRaisesRegex(supervise.StartFailure, "the process ended with status 7"):
            self.row("fp8 a")


if __name__ == "__main__":
    unittest.main()
