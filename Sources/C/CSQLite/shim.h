#pragma once
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import.
// SQLite copies the bytes before this returns.
static inline int csqlite_bind_text_copying(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

// A VFS like the default one for all but database files. (Logs and journals are written and synchronized as SQLite does by itself.)
//
// It fills the unused space between the two ends of a page with zeros. With secure_delete SQLite overwrites what is deleted, but where
// it divides a page between two, copies of the rows that it moved stay in that space, out of reach of a later deletion.
//
// It also waits for the disk after each megabyte: a device does what it was given in turn, so the commits of a server would wait for a
// whole backup.

enum {
    // What may wait for the disk: 15 ms of a disk with 70 MB a second.
    csqlite_unsynchronized_bytes = 1 << 20,
    csqlite_page_bytes = 4096,
    // A page of another kind may begin like one of a table or an index once page numbers have this many bits.
    csqlite_page_number_bits = 24,
};

// Follows the default VFS's own data of an open database file.
struct csqlite_file {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *base;
    int unsynchronized;
};

struct csqlite_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *base;
};

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
static inline int csqlite_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    // The methods are the first member, so their address is that of the whole.
    struct csqlite_file *own = (struct csqlite_file *)file->pMethods;
    unsigned char clean[csqlite_page_bytes];
    int start, end;
    sqlite3_int64 size;
    if (csqlite_unused_space(bytes, count, offset, &start, &end) && own->base->xFileSize(file, &size) == SQLITE_OK
        && size / count >> csqlite_page_number_bits == 0) {
        memcpy(clean, bytes, (size_t)count);
        memset(clean + start, 0, (size_t)(end - start));
        bytes = clean;
    }
    int code = own->base->xWrite(file, bytes, count, offset);
    own->unsynchronized += count;
    if (code != SQLITE_OK || own->unsynchronized < csqlite_unsynchronized_bytes) return code;
    own->unsynchronized = 0;
    return own->base->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

static inline int csqlite_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened) {
    sqlite3_vfs *base = ((struct csqlite_vfs *)vfs)->base;
    int code = base->xOpen(base, name, file, flags, opened);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB)) return code;
    struct csqlite_file *own = (struct csqlite_file *)((char *)file + vfs->szOsFile - (int)sizeof(struct csqlite_file));
    *own = (struct csqlite_file){.methods = *file->pMethods, .base = file->pMethods};
    own->methods.xWrite = csqlite_write;
    file->pMethods = &own->methods;
    return SQLITE_OK;
}

// Registers the VFS "clean", which stays until the end of the program; to be called once.
static inline int csqlite_register(void) {
    // Nobody asks how much memory SQLite has taken, which it counts under a lock. (After its first use SQLite would refuse this.)
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    struct csqlite_vfs *clean = malloc(sizeof *clean);
    if (!base || !clean) return SQLITE_NOMEM;
    *clean = (struct csqlite_vfs){.vfs = *base, .base = base};
    clean->vfs.zName = "clean";
    clean->vfs.pNext = NULL;
    // Rounded up, so that what follows is aligned.
    clean->vfs.szOsFile = (base->szOsFile + 7) / 8 * 8 + (int)sizeof(struct csqlite_file);
    clean->vfs.xOpen = csqlite_open;
    return sqlite3_vfs_register(&clean->vfs, 0);
}
