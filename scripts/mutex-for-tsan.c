// Tells the thread sanitizer about Swift's Mutex. Preloaded by `scripts/test thread`, nowhere else.
//
// An uncontended Mutex is an atomic in our own code, which the sanitizer sees. A contended one is locked and unlocked inside
// libswiftSynchronization, which is not instrumented, so that every contended Mutex would look like a data race. Each function here
// calls the one of the same name in that library, and says what it orders. The names are those of Swift 6.3; should a later one rename
// them, nothing is hidden: the false reports come back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Absent in a program without the sanitizer.
void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

static void *original(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

static void acquired(void *handle) {
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
  ((SWIFT void (*)(uint32_t, SELF))original(LOCK))(thread, handle);
  acquired(handle);
}

SWIFT bool try_lock_slow(SELF) {
  bool locked = ((SWIFT bool (*)(SELF))original(TRY_LOCK))(handle);
  if (locked) acquired(handle);
  return locked;
}

SWIFT void unlock_slow(SELF) {
  if (__tsan_release) __tsan_release(handle);
  ((SWIFT void (*)(SELF))original(UNLOCK))(handle);
}
