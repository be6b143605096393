#!/usr/bin/env python3
"""No function of the theory is defined or called in a library that goes into a database.

  not_in_the_plugin_test.py NM THEORY LIBRARY ...
"""
import subprocess
import sys

nm, theory, *libraries = sys.argv[1:]


def symbols(library, kinds):
    """The names in a library, mangled, of the given letters of nm."""
    lines = subprocess.run([nm, library], text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    return {fields[-1] for fields in map(str.split, lines) if len(fields) >= 2 and fields[-2] in kinds}


functions = symbols(theory, "T")
assert any("EstimateKeys" in name for name in functions) and any("UnionOf" in name for name in functions), functions
for library in libraries:
    shared = functions & symbols(library, "TtUWw")
    assert not shared, f"{library} has {sorted(shared)}"
print(f"none of {len(functions)} functions of {theory} is in {' '.join(libraries)}")
