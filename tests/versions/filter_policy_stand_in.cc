// What a library of RocksDB has of its class FilterPolicy: the table of virtual functions and, with
// RTTI, the type information.
namespace rocksdb {

class FilterPolicy {
 public:
  virtual ~FilterPolicy();
};

FilterPolicy::~FilterPolicy() = default;

}  // namespace rocksdb
