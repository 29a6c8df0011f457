// Asks the caches for the line of an address, which will be needed soon: many requests at once wait for all of them
// together. Any address will do; one that is nobody's is passed over.
//
// GCC takes a function that does nothing else for one without effects, and leaves out calls of it. The empty statement
// behind the request, and that it is inlined always, keep it.
#pragma once

namespace fsstream {

inline constexpr int kFirstCache = 3;
inline constexpr int kSecondCache = 2;

template <int Cache = kFirstCache>
[[gnu::always_inline]] inline void ask_to_read(const void* line) {
  __builtin_prefetch(line, 0, Cache);
  asm volatile("");
}

// To read it would be too little: the other cores' copies must go, too. Old processors pass over this instruction.
[[gnu::always_inline]] inline void ask_to_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
  asm volatile("");
#endif
}

}  // namespace fsstream
