// A database with ExactBloom's filters, in Go, by RocksDB's C interface. `./run` compiles and runs it.
package main

// #cgo pkg-config: exactbloom-rocksdb
// #include <exactbloom/c.h>
import "C"

func filteredOptions(policy string) (*C.rocksdb_options_t, *C.char) {
	var failure *C.char
	options := C.rocksdb_options_create()
	C.exactbloom_options_set_filter_policy(options, C.CString(policy), &failure)
	return options, failure
}
