"""Loads RocksDB late and for itself alone, as languages do it, and opens a database with default options.

late_loader.py LIBROCKSDB DIRECTORY [--other-before LIBRARY | --other-after LIBRARY | --string OPTIONS]
"""
import ctypes
import sys

rocksdb = ctypes.CDLL(sys.argv[1])
directory, how, what = sys.argv[2], *(sys.argv[3:5] if len(sys.argv) > 3 else ("", ""))
rocksdb.rocksdb_options_create.restype = rocksdb.rocksdb_open.restype = ctypes.c_void_p
error = ctypes.c_char_p()


def reaches_itself(library):
    print("reaches itself:", ctypes.CDLL(library).stand_in_reaches_itself())


if how == "--other-before":
    reaches_itself(what)
options = ctypes.c_void_p(rocksdb.rocksdb_options_create())
if how == "--string":
    rocksdb.rocksdb_get_options_from_string(options, what.encode(), options, ctypes.byref(error))
rocksdb.rocksdb_options_set_create_if_missing(options, ctypes.c_ubyte(1))
db = rocksdb.rocksdb_open(options, directory.encode(), ctypes.byref(error))
if how == "--other-after":
    reaches_itself(what)
if error.value:
    sys.exit(error.value.decode())
rocksdb.rocksdb_close(ctypes.c_void_p(db))
