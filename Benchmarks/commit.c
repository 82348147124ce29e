/* How long one durable commit of a task's row takes with SQLite alone: what a POST on one connection costs at least.
   usage: commit DATABASE SECONDS      prints the commits and the median and 99th percentile of their microseconds */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *db;
static double latencies[4000000];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  if (count != 3) { fprintf(stderr, "usage: commit DATABASE SECONDS\n"); return 2; }
  if (sqlite3_open(arguments[1], &db) != SQLITE_OK) fail("open");
  /* The table of tasks and the durability that task-server has. */
  static const char schema[] =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE tasks(owner TEXT NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, completed INTEGER NOT NULL,"
      "created INTEGER NOT NULL, modified INTEGER NOT NULL, revision INTEGER NOT NULL, due TEXT, notes TEXT, position REAL,"
      "PRIMARY KEY (owner, id)) WITHOUT ROWID";
  if (sqlite3_exec(db, schema, NULL, NULL, NULL) != SQLITE_OK) fail("schema");
  sqlite3_stmt *insert;
  static const char statement[] = "INSERT INTO tasks(owner, id, text, completed, created, modified, revision)"
                                  "VALUES ('a11ce000-0000-4000-8000-000000000001', ?1, 'Buy milk and bread, number 1', 0, ?2, ?2, 1)";
  if (sqlite3_prepare_v2(db, statement, -1, &insert, NULL) != SQLITE_OK) fail("prepare");
  long number = 0, most = sizeof latencies / sizeof *latencies;
  double end = now() + atof(arguments[2]) * 1e6, begin = now();
  while (begin < end && number < most) {
    sqlite3_bind_int64(insert, 1, number + 1);
    sqlite3_bind_int64(insert, 2, 1795389833880 + number);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("insert");
    sqlite3_reset(insert);
    double after = now();
    latencies[number++] = after - begin;
    begin = after;
  }
  qsort(latencies, (size_t)number, sizeof *latencies, ascending);
  printf("%ld commits, median %.1f us, p99 %.1f us\n", number, latencies[number / 2], latencies[number * 99 / 100]);
  sqlite3_finalize(insert);
  sqlite3_close(db);
  return 0;
}
