"""What was measured already: a line for each finished cell, so that a run that was stopped goes on there."""
import json
import sys


class Journal:
    """Cells by tree, workload, policy and repetition. Those of other code, on another machine, of another input or of other sizes are dropped."""

    def __init__(self, path, origin, anew=False):
        self.path, self.cells = path, {}
        lines = path.read_text().splitlines() if path.exists() and not anew else []
        # The last line is incomplete if the process was killed as it wrote.
        if lines and lines[0] == json.dumps(origin):
            for line in lines[1:]:
                if line.endswith("}"):
                    self.keep(json.loads(line))
        elif lines:
            print(f"measure: {path.name} is of another commit, build, machine, input or size: begins anew", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in (origin, *self.cells.values())))

    def keep(self, cell):
        self.cells[cell["tree"], cell["workload"], cell["policy"], cell["repetition"]] = cell

    def add(self, cell):
        self.keep(cell)
        with open(self.path, "a") as file:
            file.write(json.dumps(cell) + "\n")

    def get(self, tree, workload, policy, repetition):
        return self.cells.get((tree, workload, policy, repetition))

    def minutes(self):
        """That all cells took, in all runs."""
        return round(sum(cell["seconds"] for cell in self.cells.values()) / 60, 1)
