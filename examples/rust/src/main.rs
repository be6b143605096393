// A database with ExactBloom's filters, in Rust. `./run` compiles it and runs it with the preloaded
// object, which makes the filter that EXACTBLOOM_POLICY names wherever the crate asks for one of
// RocksDB's. Where a program sets no filter at all, the object adds it.
use rocksdb::{BlockBasedOptions, Options};

fn filtered_options() -> Options {
    let mut tables = BlockBasedOptions::default();
    tables.set_bloom_filter(10.0, false);
    let mut options = Options::default();
    options.set_block_based_table_factory(&tables);
    options
}

// ---- What follows shows by RocksDB's counters that it works. ----

use rocksdb::{statistics::Ticker, DB};

fn main() -> Result<(), rocksdb::Error> {
    let mut options = filtered_options();
    options.create_if_missing(true);
    options.enable_statistics();
    let path = std::env::args().nth(1).expect("usage: quick_start DIRECTORY");
    let db = DB::open(&options, path)?;
    for i in (0..20000).step_by(2) {
        db.put(format!("{i:08}"), "value")?;
    }
    db.flush()?;
    let mut found = 0;
    for i in 0..20000 {
        // every other key is absent
        found += i32::from(db.get(format!("{i:08}"))?.is_some());
    }
    let stopped = options.get_ticker_count(Ticker::BloomFilterUseful);
    println!("found {found}; absent keys that a filter stopped: {stopped}");
    Ok(())
}
