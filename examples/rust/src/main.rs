use rocksdb::{Options, DB};

fn main() -> Result<(), rocksdb::Error> {
    let mut options = Options::default();
    options.create_if_missing(true);
    let db = DB::open(&options, "db")?;
    db.put("key", "value")?;
    db.flush()
}
