import json
import sys
from ctypes import CDLL, byref, c_char_p, c_size_t, c_void_p, string_at, util

rocksdb, exactbloom = CDLL(util.find_library("rocksdb")), CDLL(sys.argv[1])


def call(function, *arguments):
    error, function.restype = c_char_p(), c_void_p
    pointer = function(*arguments, byref(error))
    return sys.exit(error.value.decode()) if error.value else c_void_p(pointer)


options = call(rocksdb.rocksdb_options_create)
rocksdb.rocksdb_options_set_create_if_missing(options, 1)
call(exactbloom.exactbloom_options_set_filter_policy, options, b"exactbloom:10")
db = call(rocksdb.rocksdb_open, options, b"db")
call(exactbloom.exactbloom_follow_database, db, None, c_size_t(0))
call(rocksdb.rocksdb_put, db, call(rocksdb.rocksdb_writeoptions_create), b"key", c_size_t(3), b"value", c_size_t(5))
call(rocksdb.rocksdb_flush, db, call(rocksdb.rocksdb_flushoptions_create))
text = call(exactbloom.exactbloom_sorted_runs, db)
for run in json.loads(string_at(text))["sorted_runs"]:
    print(run["column_family"], "level", run["level"], "keys", run["keys"])
rocksdb.rocksdb_free(text)
