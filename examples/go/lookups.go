// What follows shows by RocksDB's counters that it works.
package main

// #include <rocksdb/c.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"
)

func check(failure *C.char) {
	if failure != nil {
		fmt.Fprintln(os.Stderr, "quick_start:", C.GoString(failure))
		os.Exit(2)
	}
}

func main() {
	options, failure := filteredOptions("exactbloom:10")
	check(failure)
	C.rocksdb_options_set_create_if_missing(options, 1)
	C.rocksdb_options_enable_statistics(options)
	db := C.rocksdb_open(options, C.CString(os.Args[1]), &failure)
	check(failure)

	write, read := C.rocksdb_writeoptions_create(), C.rocksdb_readoptions_create()
	value := C.CString("value")
	found := 0
	for i := 0; i < 20000; i += 2 {
		key := C.CString(fmt.Sprintf("%08d", i))
		C.rocksdb_put(db, write, key, 8, value, 5, &failure)
		C.free(unsafe.Pointer(key))
		check(failure)
	}
	C.rocksdb_flush(db, C.rocksdb_flushoptions_create(), &failure)
	check(failure)
	for i := 0; i < 20000; i++ { // every other key is absent
		key := C.CString(fmt.Sprintf("%08d", i))
		var size C.size_t
		got := C.rocksdb_get(db, read, key, 8, &size, &failure)
		check(failure)
		if got != nil {
			found++
		}
		C.rocksdb_free(unsafe.Pointer(got))
		C.free(unsafe.Pointer(key))
	}
	statistics := C.GoString(C.rocksdb_options_statistics_get_string(options))
	_, useful, _ := strings.Cut(statistics, "rocksdb.bloom.filter.useful COUNT : ")
	stopped, _ := strconv.Atoi(strings.SplitN(useful, "\n", 2)[0])
	fmt.Printf("found %d; absent keys that a filter stopped: %d\n", found, stopped)
	C.rocksdb_close(db)
}
