// Tells the thread sanitizer what Swift's own libraries order. Preloaded by `scripts/test thread`, nowhere else.
//
// Those libraries are not instrumented, so that two things would look like data races without being any:
//
// - A contended Mutex. Without contention it is an atomic in our own code, which the sanitizer sees; with it, libswiftSynchronization
//   locks and unlocks.
// - A continuation that is resumed before its task has reached the suspension. The task then runs on without being enqueued, and only
//   being enqueued is announced to the sanitizer.
//
// Each function here calls the one of the same name in the library, and says what it orders. Nothing is suppressed. The names are those
// of Swift 6.3; should a later one rename them, the false reports come back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Absent in a program without the sanitizer.
void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle

static void acquire(void *address) {
  if (__tsan_acquire) __tsan_acquire(address);
}

static void release(void *address) {
  if (__tsan_release) __tsan_release(address);
}

static void *original(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

// Mutex

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
  ((SWIFT void (*)(uint32_t, SELF))original(LOCK))(thread, handle);
  acquire(handle);
}

SWIFT bool try_lock_slow(SELF) {
  bool locked = ((SWIFT bool (*)(SELF))original(TRY_LOCK))(handle);
  if (locked) acquire(handle);
  return locked;
}

SWIFT void unlock_slow(SELF) {
  release(handle);
  ((SWIFT void (*)(SELF))original(UNLOCK))(handle);
}

// Continuations: who resumes releases; the task acquires in a step put before the function that it goes on with.

struct context;
typedef __attribute__((swiftasynccall)) void step(__attribute__((swift_async_context)) struct context *);
struct context {
  struct context *parent;
  step *resume;
};

struct waiting {
  struct waiting *next;
  struct context *context;
  step *resume;
  void *task;
};

// A lock that the sanitizer does not see: one that it sees would order all tasks, and hide real races.
static atomic_flag locked = ATOMIC_FLAG_INIT;
static struct waiting *all[1024];

static struct waiting **list(struct context *context) {
  while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire)) {}
  return &all[((uintptr_t)context >> 4) % 1024];
}

static void unlock(void) { atomic_flag_clear_explicit(&locked, memory_order_release); }

static __attribute__((swiftasynccall)) void acquire_first(__attribute__((swift_async_context)) struct context *context) {
  struct waiting **at = list(context);
  while ((*at)->context != context) at = &(*at)->next;
  struct waiting *found = *at;
  *at = found->next;
  unlock();
  context->resume = found->resume;
  acquire(found->task);
  step *resume = found->resume;
  free(found);
  __attribute__((musttail)) return resume(context);
}

SWIFT void *swift_task_getCurrent(void);

// In the library its argument is an ordinary one, since its caller's context is not yet the callee's.
__attribute__((swiftasynccall)) void swift_continuation_await(struct context *context) {
  struct waiting *new = malloc(sizeof *new);
  if (!new) abort();
  struct waiting **at = list(context);
  *new = (struct waiting){*at, context, context->resume, swift_task_getCurrent()};
  *at = new;
  unlock();
  context->resume = acquire_first;
  typedef __attribute__((swiftasynccall)) void await(struct context *);
  __attribute__((musttail)) return ((await *)original("swift_continuation_await"))(context);
}

SWIFT void swift_continuation_resume(void *task) {
  release(task);
  ((SWIFT void (*)(void *))original("swift_continuation_resume"))(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
  release(task);
  ((SWIFT void (*)(void *))original("swift_continuation_throwingResume"))(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
  release(task);
  ((SWIFT void (*)(void *, void *))original("swift_continuation_throwingResumeWithError"))(task, error);
}
