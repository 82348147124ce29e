import Glibc

/// Whether the tests run with a sanitizer, which makes programs slower and larger.
package let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
