#!/usr/bin/env python3
"""The types that plugin/c_binding/c_types.h repeats are those of RocksDB's C interface, token for token.

c_types.py C_TYPES_H ROCKSDB_C_CC
"""
import re
import sys


def definitions(path):
    """Returns the tokens of each struct of a file, by its name."""
    code = re.sub(r"//[^\n]*", "", open(path, encoding="utf-8").read())
    found = re.finditer(r"^struct (rocksdb_\w+)[^;{]*\{.*?^\};", code, re.M | re.S)
    return {struct[1]: re.findall(r"\w+|\S", struct[0]) for struct in found}


repeated, original = map(definitions, sys.argv[1:])
if not repeated:
    sys.exit("no struct found")
for name, tokens in repeated.items():
    if original.get(name) != tokens:
        sys.exit(f"{name} is not as in {sys.argv[2]}: {' '.join(original.get(name, []))}")
print(f"the same: {', '.join(repeated)}")
