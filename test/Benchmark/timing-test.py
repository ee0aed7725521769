# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of how benchmark/timing.py judges a ranking, and of the rows that it takes."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmark"))
import timing


class Ranks(unittest.TestCase):
    def test_places(self):
        self.assertEqual(timing.ranks([5, 1, 5, 9]), [1.5, 0, 1.5, 3])

    def test_spearman(self):
        self.assertAlmostEqual(timing.spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(timing.spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(timing.spearman([1, 2, 3, 4], [1, 2, 4, 3]), 0.8)
        self.assertEqual(timing.spearman([1, 2], [3, 3]), 0)

    def test_pairs_within_the_noise_do_not_count(self):
        """1.00 and 1.01 are put the other way round: that says nothing."""
        self.assertEqual(timing.kendall([1, 1.01, 2], [1.2, 1.1, 2], 2), 1)
        self.assertAlmostEqual(timing.kendall([1, 1.01, 2], [1.2, 1.1, 2], 0.5), 1 / 3)
        self.assertIsNone(timing.kendall([1, 1.01], [1, 2], 2))

    def test_a_tie_of_the_model_is_no_order(self):
        self.assertEqual(timing.kendall([1, 2], [3, 3], 2), -1)

    def test_lines(self):
        shape = [(1, 1, 1)] * 5
        found = list(zip(shape, [1, 2, 3, 4, 5], [1.5, 1.4, 3, 4, 5])) + [((2, 2, 2), 7, 7)]
        lines = timing.rank_lines(found, 2)
        self.assertIn("1 shapes: mean 0.900, median 0.90, least 0.90, 1 of 0.9 or more", lines[0])
        self.assertIn("pairs more than 2 % apart), 1 shapes: mean 0.800, median 0.80", lines[1])
        self.assertIn("takes 100.0 % more than the fastest in the median", lines[2])

    def test_rounds_rank_each_other(self):
        rounds = [((1, 1, 1), (us, other)) for us, other in zip([1, 2, 3, 4, 5], [1, 2, 4, 3, 5])] + [((2, 2, 2), (7, 7))]
        self.assertEqual(timing.ceiling_line(rounds), "two rounds of the measurement (Spearman), 1 shapes: mean 0.900, least 0.90")
        self.assertIsNone(timing.ceiling_line(rounds[:4]))


class Rows(unittest.TestCase):
    SURVEY = os.path.join(os.path.dirname(timing.__file__), "results", "survey", "2026-11-26-%s.csv")

    def test_the_halves_share_no_shape_on_either_gpu(self):
        shapes = {(half, gpu): {row[:3] for row in timing.read_rows(self.SURVEY % gpu, half, 200)}
                  for half in ("fitted", "held") for gpu in ("h200", "h100-5")}
        self.assertFalse((shapes["fitted", "h200"] | shapes["fitted", "h100-5"]) & (shapes["held", "h200"] | shapes["held", "h100-5"]))
        self.assertTrue(all(60 < len(one) < 90 for one in shapes.values()))

    def test_limit(self):
        self.assertLessEqual(max(row[4] for row in timing.read_rows(self.SURVEY % "h200", "all", 20)), 20)

    def test_long_rows_come_from_the_other_survey(self):
        rows = [(1, 2, 3, "a", 10.0), (1, 2, 3, "b", 50.0), (1, 2, 3, "c", 60.0)]
        self.assertEqual(timing.replace_long(rows, [(1, 2, 3, "a", 41.0), (1, 2, 3, "b", 45.0)]), [rows[0], (1, 2, 3, "b", 45.0)])

    def test_kernels_of_older_surveys_waited_for_a(self):
        folder = os.path.dirname(self.SURVEY)
        self.assertEqual(timing.written_in(self.SURVEY % "h200"), ["a"])
        self.assertEqual(timing.written_in(os.path.join(folder, "2026-11-30-h200-fit.csv")), ["a"])
        self.assertEqual(timing.written_in(os.path.join(folder, "2026-11-30-h200-early-a.csv")), [])

    def test_names_of_configurations(self):
        self.assertEqual(timing.config_of("64x16-k2-early"), "tile = 64 x 16 x 128, split_k = 2, launch = programmatic")
        self.assertEqual(timing.config_of("tile = 64 x 16 x 128, edge = first"), "tile = 64 x 16 x 128, edge = first")
        self.assertIsNone(timing.config_of("best"))


if __name__ == "__main__":
    unittest.main()
