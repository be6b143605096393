#!/usr/bin/env python3
"""scripts/release on a small tree with steps of its own: it goes on where it stopped, and refuses what would be of no commit."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = """
[[step]]
name = "counts"
minutes = 1
command = "echo run >> build/runs; echo 41 of 42 counted; echo 42 of 42 counted; echo kept > {results}/counts.json"
take = "cp {results}/counts.json docs/file"
[[step.figure]]
name = "counted"
pattern = '^(\\d+) of (\\d+) counted'
value = "{0} of {1}"

[[step]]
name = "fails"
minutes = 120
command = "echo the reason; test -e build/mended"
"""


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class ReleaseTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name)
        for folder in ("scripts/release", "docs/figures", "include/exactbloom", "build"):
            (self.tree / folder).mkdir(parents=True)
        shutil.copy(ROOT / "scripts/release/run", self.tree / "scripts/release")
        shutil.copy(ROOT / "include/exactbloom/version.h", self.tree / "include/exactbloom")
        (self.tree / "scripts/release/steps.toml").write_text(STEPS)
        (self.tree / "scripts/release/document_figures").write_text("#!/bin/sh\n")
        (self.tree / "scripts/release/document_figures").chmod(0o755)
        (self.tree / ".gitignore").write_text("build/\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@n.example", *arguments], cwd=self.tree, check=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "m")

    def release(self, *arguments):
        return subprocess.run([self.tree / "scripts/release/run", *arguments], capture_output=True, text=True, check=False)

    def figures(self):
        return {entry["step"]: entry for entry in json.loads((self.tree / "docs/figures/release.json").read_text())["steps"]}

    def runs(self):
        return (self.tree / "build/runs").read_text().count("run")

    def test_stops_at_the_first_failure_and_goes_on_there(self):
        failed = self.release()
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("step 2 of 2: fails, about 120 min; 2.0 h to go", failed.stderr)
        self.assertIn("fails failed with status 1", failed.stderr)
        self.assertIn("the reason", failed.stderr)
        self.assertFalse((self.tree / "docs/figures/release.json").exists())

        (self.tree / "build/mended").touch()
        done = self.release()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("counts: done at this commit already", done.stderr)
        self.assertEqual(self.runs(), 1)
        self.assertEqual(self.figures()["counts"]["figures"], [["counted", "42 of 42"]])
        self.assertEqual((self.tree / "docs/file").read_text(), "kept\n")

        self.commit()  # another commit: what was measured before is not of it
        self.release("--only", "counts")
        self.assertEqual(self.runs(), 2)

    def test_one_step_leaves_the_others_as_they_are(self):
        done = self.release("--only", "counts")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("date", self.figures()["counts"])
        self.assertNotIn("date", self.figures()["fails"])

    def test_a_tree_with_changes_is_refused(self):
        (self.tree / "new").touch()
        refused = self.release()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the tree has changes that are not committed", refused.stderr)

    def test_a_figure_that_was_not_printed_is_no_success(self):
        steps = (self.tree / "scripts/release/steps.toml").read_text().replace("echo 42 of 42 counted; ", "").replace("41 of 42", "nothing")
        (self.tree / "scripts/release/steps.toml").write_text(steps)
        self.commit()
        refused = self.release("--only", "counts")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("counts did not print what", refused.stderr)

    def test_list(self):
        listed = self.release("--list")
        self.assertRegex(listed.stdout, r"(?m)^fails +about 2.0 h")
        self.assertRegex(listed.stdout, r"(?m)^to do +about 2.0 h$")


if __name__ == "__main__":
    unittest.main()
