# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of what benchmark/chooser.py makes of measured times before it compares them."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark"))
import chooser

SHAPE = (64, 4096, 7168)
EARLY = "tile = 64 x 64 x 128, launch = programmatic, signal = wait"
SERIAL = "tile = 64 x 64 x 128"


def predicted(config, us, ahead, correction=0.0):
    return {"config": config, "us": us, "terms": {"ahead": -ahead, "correction": correction}}


class WithoutWait(unittest.TestCase):
    """Kernels of old surveys waited for A: their times are longer than today's by what is ahead."""

    def less(self, *ranking):
        return chooser.without_wait({SHAPE: {EARLY: 10.0, SERIAL: 12.0}}, {SHAPE: [predicted(EARLY, 0, 0), *ranking]})[SHAPE]

    def test_the_share_that_is_ahead_is_taken_off(self):
        """8 us are predicted, of 10 without what is ahead: a fifth."""
        times = self.less(predicted(EARLY, 8.0, 2.0), predicted(SERIAL, 12.0, 0.0))
        self.assertAlmostEqual(times[EARLY], 8.0)
        self.assertEqual(times[SERIAL], 12.0)

    def test_a_correction_is_no_part_of_the_share(self):
        self.assertAlmostEqual(self.less(predicted(EARLY, 9.0, 2.0, correction=1.0))[EARLY], 8.0)

    def test_a_kernel_that_is_not_predicted_stays(self):
        self.assertEqual(self.less()[EARLY], 10.0)

    def test_fields_that_came_later_are_overlooked(self):
        later = EARLY.replace(", launch", ", b_scales = lanes, l2_promotion = 128, launch")
        self.assertAlmostEqual(self.less(predicted(later, 8.0, 2.0))[EARLY], 8.0)


class Surveys(unittest.TestCase):
    def waited(self, *dates):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "survey.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("date,us\n" + "".join("%s,1\n" % date for date in dates))
            return chooser.waited_for_a(path)

    def test_the_date_tells_whether_kernels_waited_for_a(self):
        self.assertTrue(self.waited("2026-11-29 10:00:00", "2026-11-30T20:59:59"))
        self.assertFalse(self.waited("2026-11-29 10:00:00", "2026-11-30T21:00:01"))

    def test_mean_times_are_of_kernels_with_both(self):
        self.assertEqual(chooser.with_alone({SHAPE: {EARLY: 9.0, SERIAL: 12.0}, (1, 2, 3): {SERIAL: 1.0}}, {SHAPE: {EARLY: 12.0}}), {SHAPE: {EARLY: 10.0}})


if __name__ == "__main__":
    unittest.main()
