#!/usr/bin/env python3
"""scripts/release/run on a small tree with steps of its own: it continues where it stopped, and refuses figures of no commit."""

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
command = "echo run >> build/runs; echo kept"
take = "cp {log} docs/file"

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
        for file in ("scripts/release/run", "scripts/release/machine.py", "include/exactbloom/version.h", "docs/figures/x", "build/x"):
            (self.tree / file).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / file).exists():
                shutil.copy(ROOT / file, self.tree / file)
        (self.tree / "scripts/release/steps.toml").write_text(STEPS)
        (self.tree / "scripts/release/document_tables").symlink_to("/bin/true")
        (self.tree / ".gitignore").write_text("build/\n")
        subprocess.run("git init -q && git add -A && git -c user.name=n -c user.email=n@n.example commit -qm m", shell=True, cwd=self.tree, check=True)

    def release(self, status, words, *arguments):
        done = subprocess.run([self.tree / "scripts/release/run", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stdout + done.stderr, words)

    def test_continues_where_it_stopped(self):
        self.release(0, r"(?m)^fails +about 2.0 h(.|\n)*^to do +about 2.0 h$", "--list")
        self.release(1, r"step 2 of 2: fails, about 120 min; 2.0 h to go\n(.|\n)*the reason\n(.|\n)*fails failed with status 1")
        self.assertFalse((self.tree / "docs/figures/release.json").exists())
        (self.tree / "build/mended").touch()
        self.release(0, "counts: done at this commit already")
        self.assertEqual((self.tree / "build/runs").read_text(), "run\n")
        self.assertEqual((self.tree / "docs/file").read_text(), "kept\n")
        commit = subprocess.check_output(["git", "rev-parse", "--short=10", "HEAD"], cwd=self.tree, text=True).strip()
        steps = json.loads((self.tree / "docs/figures/release.json").read_text())["steps"]
        self.assertEqual([(step["step"], step["commit"]) for step in steps], [("counts", commit), ("fails", commit)])
        # The results are in docs/, with a commit of them or without.
        self.release(0, "fails: done at this commit already")
        subprocess.run("git add -A && git -c user.name=n -c user.email=n@n.example commit -qm results", shell=True, cwd=self.tree, check=True)
        self.release(0, "fails: done at this commit already")
        (self.tree / "scripts/release/steps.toml").write_text(STEPS + "\n")
        self.release(2, "the tree has changes that are not committed")


if __name__ == "__main__":
    unittest.main()
