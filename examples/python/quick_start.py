"""A database with ExactBloom's filters, in Python, by RocksDB's C interface. `./run` runs it."""
import ctypes
import ctypes.util
import sys

rocksdb = ctypes.CDLL(ctypes.util.find_library("rocksdb"))
exactbloom = ctypes.CDLL(sys.argv[1])  # libexactbloom_rocksdb.so
rocksdb.rocksdb_options_create.restype = ctypes.c_void_p


def filtered_options(policy):
    """Options of a database; `policy` is what filter_policy= takes."""
    options, error = ctypes.c_void_p(rocksdb.rocksdb_options_create()), ctypes.c_char_p()
    exactbloom.exactbloom_options_set_filter_policy(options, policy.encode(), ctypes.byref(error))
    check(error)
    return options


# ---- What follows shows by RocksDB's counters that it works. ----

def check(error):
    if error.value:
        sys.exit(f"quick_start: {error.value.decode()}")


def pointer(function, *arguments):
    function.restype = ctypes.c_void_p
    return ctypes.c_void_p(function(*arguments))


def main():
    options = filtered_options("exactbloom:10")
    error = ctypes.c_char_p()
    rocksdb.rocksdb_options_set_create_if_missing(options, 1)
    rocksdb.rocksdb_options_enable_statistics(options)
    db = pointer(rocksdb.rocksdb_open, options, sys.argv[2].encode(), ctypes.byref(error))
    check(error)
    write, read = pointer(rocksdb.rocksdb_writeoptions_create), pointer(rocksdb.rocksdb_readoptions_create)
    eight, five, size = ctypes.c_size_t(8), ctypes.c_size_t(5), ctypes.c_size_t()
    for i in range(0, 20000, 2):
        rocksdb.rocksdb_put(db, write, b"%08d" % i, eight, b"value", five, ctypes.byref(error))
        check(error)
    rocksdb.rocksdb_flush(db, pointer(rocksdb.rocksdb_flushoptions_create), ctypes.byref(error))
    check(error)
    found = 0
    for i in range(20000):  # every other key is absent
        value = pointer(rocksdb.rocksdb_get, db, read, b"%08d" % i, eight, ctypes.byref(size), ctypes.byref(error))
        check(error)
        found += value.value is not None
        rocksdb.rocksdb_free(value)
    statistics = ctypes.string_at(pointer(rocksdb.rocksdb_options_statistics_get_string, options)).decode()
    stopped = statistics.split("rocksdb.bloom.filter.useful COUNT : ")[1].split()[0]
    print(f"found {found}; absent keys that a filter stopped: {stopped}")
    rocksdb.rocksdb_close(db)


main()
