// A database with ExactBloom's filters, in Go, by RocksDB's C interface. `./run` compiles and runs it.
package main

// #cgo pkg-config: exactbloom-rocksdb
// #include <exactbloom/c.h>
import "C"

func filteredOptions(policy string) (*C.rocksdb_options_t, *C.char) {
	var failure *C.char
	filter := C.exactbloom_filterpolicy_create(C.CString(policy), &failure)
	tables := C.rocksdb_block_based_options_create()
	C.rocksdb_block_based_options_set_filter_policy(tables, filter)
	options := C.rocksdb_options_create()
	C.rocksdb_options_set_block_based_table_factory(options, tables)
	C.rocksdb_block_based_options_destroy(tables)
	C.exactbloom_options_add_tree_listener(options, &failure) // size_ratio=auto follows the tree
	return options, failure
}
