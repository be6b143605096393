// Counts the reads that RocksDB's Bloom filter and exactbloom:10 waste, with a RocksDB that ExactBloom is built into.
//   java -cp JAR WastedReads.java DIRECTORY      a directory for the databases; it is created
import java.nio.file.*;
import java.util.*;
import org.rocksdb.*;

public class WastedReads {
  // By option strings. Without the listener exactbloom:10 does not open.
  static long openWithStrings(Path path, String policy) throws Exception {
    Properties database = new Properties(), family = new Properties();
    database.putAll(Map.of("create_if_missing", "true", "listeners", "exactbloom_tree"));
    family.putAll(Map.of("write_buffer_size", "1048576", "block_based_table_factory", "{filter_policy=" + policy + "}"));
    ColumnFamilyOptions options = ColumnFamilyOptions.getColumnFamilyOptionsFromProps(family);
    return measure(path, DBOptions.getDBOptionsFromProps(database),
        List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, options)));
  }

  // By an OPTIONS file that names policy and listener.
  static long openWithFile(Path path, String optionsFile) throws Exception {
    DBOptions database = new DBOptions();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    OptionsUtil.loadOptionsFromFile(new ConfigOptions(), optionsFile, database, families);
    return measure(path, database, families);
  }

  // Stores 300,000 keys and looks up as many absent ones. A filter that lets one pass wastes a read.
  static long measure(Path path, DBOptions options, List<ColumnFamilyDescriptor> families) throws Exception {
    Statistics counts = new Statistics();
    options.setStatistics(counts);
    try (RocksDB db = RocksDB.open(options, path.toString(), families, new ArrayList<>())) {
      for (int i = 0; i < 300_000; ++i) db.put(key(2 * i), new byte[100]);
      db.flush(new FlushOptions());
      for (int i = 0; i < 300_000; ++i)
        if (db.get(key(2 * i + 1)) != null) throw new AssertionError("found an absent key");
    }
    if (counts.getTickerCount(TickerType.BLOOM_FILTER_USEFUL) == 0) throw new AssertionError("there are no filters");
    long wasted = counts.getTickerCount(TickerType.BLOOM_FILTER_FULL_POSITIVE);
    System.out.printf("%s: %.1f wasted reads in 1,000 lookups%n", path.getFileName(), wasted / 300.);
    for (String line : Files.readAllLines(path.resolve("LOG")))
      if (line.contains("kernel")) System.out.println(line.replaceFirst(".*(exactbloom: .*?);.*", "  $1"));
    return wasted;
  }

  static byte[] key(long i) { return String.format("%016x", i * 0x9E3779B97F4A7C15L).getBytes(); } // in no order

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectory(Path.of(arguments[0])), strings = directory.resolve("strings");
    long bloom = openWithStrings(directory.resolve("bloomfilter"), "bloomfilter:10");
    long byStrings = openWithStrings(strings, "exactbloom:10");
    String optionsFile = strings + "/" + OptionsUtil.getLatestOptionsFileName(strings.toString(), Env.getDefault());
    long byFile = openWithFile(directory.resolve("file"), optionsFile);
    if (2 * Math.max(byStrings, byFile) > bloom) throw new AssertionError("exactbloom:10 wastes too much");
  }
}
