#pragma once
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import.
// SQLite copies the bytes before this returns.
static inline int csqlite_bind_text_copying(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

// A VFS like the default one, except that what is written to a database file is brought to the disk in small steps: a device
// does what it was given in turn, so the commit of another connection would wait for thousands of pages at once.
// (Logs and journals are written and synchronized as SQLite does by itself.)
//
// It fills the unused space between the two ends of a page with zeros. With secure_delete SQLite overwrites what is deleted, but where
// it divides a page between two, copies of the rows that it moved stay in that space, out of reach of a later deletion.
//
// It also keeps writers away from the beginning of a checkpoint. There SQLite reads how long the log is, and then how much of it was
// copied. If a commit begins the log anew in between, versions before 3.51.3 note new pages as copied that were not, and these are lost
// when the log begins anew again (https://sqlite.org/wal.html#walreset). So whoever takes the lock of checkpoints takes that of writers,
// too, until the next call for a lock, which comes after both were read; a log of which something is not copied does not begin anew.

enum {
    // Pieces that are not adjacent, and bytes, that may wait for the disk: 5 to 15 ms of a disk with 3000 writes or 70 MB a second.
    csqlite_paced_pieces = 32,
    csqlite_paced_bytes = 1 << 20,
    csqlite_page_bytes = 4096,
    // A page of another kind may begin like one of a table or an index once page numbers have this many bits.
    csqlite_page_number_bits = 24,
    // Locks in the shared memory of a log (the file format's document, section 2.3.1).
    csqlite_writer_lock = 0,
    csqlite_checkpoint_lock = 1,
    // How often a checkpoint tries to come between two transactions, and the microseconds in between.
    csqlite_writer_tries = 5000,
    csqlite_writer_pause = 50,
};

// Follows the default VFS's own data of an open database file.
struct csqlite_paced_file {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *base;
    sqlite3_int64 end;
    int pieces;
    int bytes;
    int keeps_writers_away;
};

struct csqlite_paced_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *base;
};

// The methods are the first member, so their address is that of the whole.
static inline struct csqlite_paced_file *csqlite_paced_file_of(sqlite3_file *file) {
    return (struct csqlite_paced_file *)file->pMethods;
}

static inline int csqlite_paced_sync(sqlite3_file *file, int flags) {
    struct csqlite_paced_file *paced = csqlite_paced_file_of(file);
    paced->pieces = paced->bytes = 0;
    return paced->base->xSync(file, flags);
}

// Whether the bytes are a page of a table or an index in a file without auto_vacuum, and where its unused space is (the file format's
// document, section 1.6). Pages of this program have 4 KiB.
static inline int csqlite_unused_space(const unsigned char *page, int count, sqlite3_int64 offset, int *start, int *end) {
    int header = offset == 0 ? 100 : 0;
    if (count != csqlite_page_bytes || offset % count) return 0;
    int kind = page[header];
    int is_leaf = kind == 10 || kind == 13;
    if (!is_leaf && kind != 2 && kind != 5) return 0;
    *start = header + (is_leaf ? 8 : 12) + 2 * (page[header + 3] << 8 | page[header + 4]);
    *end = page[header + 5] << 8 | page[header + 6];
    return *start < *end && *end <= count;
}

// Writes a page with zeros in its unused space.
static inline int csqlite_write_clean(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    const sqlite3_io_methods *base = csqlite_paced_file_of(file)->base;
    unsigned char clean[csqlite_page_bytes];
    int start, end;
    sqlite3_int64 size;
    if (csqlite_unused_space(bytes, count, offset, &start, &end) && base->xFileSize(file, &size) == SQLITE_OK
        && size / count >> csqlite_page_number_bits == 0) {
        memcpy(clean, bytes, (size_t)count);
        memset(clean + start, 0, (size_t)(end - start));
        bytes = clean;
    }
    return base->xWrite(file, bytes, count, offset);
}

static inline int csqlite_paced_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct csqlite_paced_file *paced = csqlite_paced_file_of(file);
    int code = csqlite_write_clean(file, bytes, count, offset);
    if (code != SQLITE_OK) return code;
    paced->pieces += offset != paced->end;
    paced->bytes += count;
    paced->end = offset + count;
    if (paced->pieces < csqlite_paced_pieces && paced->bytes < csqlite_paced_bytes) return SQLITE_OK;
    return csqlite_paced_sync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

static inline int csqlite_paced_lock_writers(struct csqlite_paced_file *paced, sqlite3_file *file) {
    int code = SQLITE_BUSY;
    for (int tries = 0; code == SQLITE_BUSY && tries < csqlite_writer_tries; tries++) {
        if (tries) usleep(csqlite_writer_pause);
        code = paced->base->xShmLock(file, csqlite_writer_lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    }
    paced->keeps_writers_away = code == SQLITE_OK;
    return code;
}

static inline int csqlite_paced_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    struct csqlite_paced_file *paced = csqlite_paced_file_of(file);
    if (paced->keeps_writers_away) {
        paced->keeps_writers_away = 0;
        paced->base->xShmLock(file, csqlite_writer_lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
    int code = paced->base->xShmLock(file, first, count, flags);
    int is_checkpoint = first == csqlite_checkpoint_lock && count == 1 && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (code != SQLITE_OK || !is_checkpoint) return code;
    code = csqlite_paced_lock_writers(paced, file);
    if (code != SQLITE_OK) paced->base->xShmLock(file, first, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return code;
}

static inline int csqlite_paced_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened) {
    sqlite3_vfs *base = ((struct csqlite_paced_vfs *)vfs)->base;
    int code = base->xOpen(base, name, file, flags, opened);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB)) return code;
    struct csqlite_paced_file *paced =
        (struct csqlite_paced_file *)((char *)file + vfs->szOsFile - (int)sizeof(struct csqlite_paced_file));
    *paced = (struct csqlite_paced_file){.methods = *file->pMethods, .base = file->pMethods, .end = -1};
    paced->methods.xWrite = csqlite_paced_write;
    paced->methods.xSync = csqlite_paced_sync;
    paced->methods.xShmLock = csqlite_paced_shm_lock;
    file->pMethods = &paced->methods;
    return SQLITE_OK;
}

// Registers the VFS "paced", which stays until the end of the program; to be called once.
static inline int csqlite_register_paced(void) {
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    struct csqlite_paced_vfs *paced = malloc(sizeof *paced);
    if (!base || !paced) return SQLITE_NOMEM;
    *paced = (struct csqlite_paced_vfs){.vfs = *base, .base = base};
    paced->vfs.zName = "paced";
    paced->vfs.pNext = NULL;
    // Rounded up, so that what follows is aligned.
    paced->vfs.szOsFile = (base->szOsFile + 7) / 8 * 8 + (int)sizeof(struct csqlite_paced_file);
    paced->vfs.xOpen = csqlite_paced_open;
    return sqlite3_vfs_register(&paced->vfs, 0);
}
