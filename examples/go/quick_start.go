package main

// #cgo pkg-config: exactbloom-rocksdb
// #include <exactbloom/c.h>
import "C"
import (
	"encoding/json"
	"fmt"
	"unsafe"
)

func check(failure *C.char) {
	if failure != nil {
		panic(C.GoString(failure))
	}
}

func main() {
	var failure *C.char
	options := C.rocksdb_options_create()
	C.rocksdb_options_set_create_if_missing(options, 1)
	C.exactbloom_options_set_filter_policy(options, C.CString("exactbloom:10"), &failure)
	check(failure)
	db := C.rocksdb_open(options, C.CString("db"), &failure)
	check(failure)
	C.exactbloom_follow_database(db, nil, 0, &failure)
	check(failure)
	C.rocksdb_put(db, C.rocksdb_writeoptions_create(), C.CString("key"), 3, C.CString("value"), 5, &failure)
	C.rocksdb_flush(db, C.rocksdb_flushoptions_create(), &failure)
	check(failure)
	text := C.exactbloom_sorted_runs(db, &failure)
	check(failure)
	var answer struct {
		Runs []struct {
			Family      string `json:"column_family"`
			Level, Keys uint64
		} `json:"sorted_runs"`
	}
	if err := json.Unmarshal([]byte(C.GoString(text)), &answer); err != nil {
		panic(err)
	}
	C.rocksdb_free(unsafe.Pointer(text))
	for _, run := range answer.Runs {
		fmt.Println(run.Family, "level", run.Level, "keys", run.Keys)
	}
}
