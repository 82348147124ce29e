import Glibc

/// Whether the tests run with a sanitizer, which multiplies memory and time, and looks at each step and not at many.
package let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
