/* Uses the stand-in for a RocksDB of another version. */
int stand_in_reaches_itself(void);

int main(void) { return stand_in_reaches_itself() ? 0 : 3; }
