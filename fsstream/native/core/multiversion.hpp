// One function, compiled for several instruction sets and chosen when the program starts.
//
//   static const auto best = Compiled<&loop>::best();   // a plain function pointer
//
// Everything the function calls is inlined into each version, so nothing compiled for a wide
// machine can leak into code that runs on a narrow one. With -ffp-contract=off and no
// reassociation every version gives the same bits.
#pragma once

#include <cstdlib>
#include <string_view>

namespace fsstream {

enum class InstructionSet { kPortable, kAvx2, kAvx512 };

// The widest this machine has; FSSTREAM_ISA=portable|avx2|avx512 narrows it.
inline InstructionSet instruction_set() {
  static const InstructionSet chosen = [] {
    InstructionSet widest = InstructionSet::kPortable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) widest = InstructionSet::kAvx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      widest = InstructionSet::kAvx512;
#endif
    const char* asked = std::getenv("FSSTREAM_ISA");
    const std::string_view limit = asked == nullptr ? "" : asked;
    if (limit == "portable") return InstructionSet::kPortable;
    if (limit == "avx2" && widest == InstructionSet::kAvx512) return InstructionSet::kAvx2;
    return widest;
  }();
  return chosen;
}

template <auto Function>
struct Compiled;

template <class Result, class... Arguments, Result (*Function)(Arguments...)>
struct Compiled<Function> {
  using Pointer = Result (*)(Arguments...);

  [[gnu::flatten]] static Result portable(Arguments... arguments) { return Function(arguments...); }
#if defined(__x86_64__)
  [[gnu::flatten, gnu::target("avx2")]] static Result avx2(Arguments... arguments) { return Function(arguments...); }
  [[gnu::flatten, gnu::target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")]]
  static Result avx512(Arguments... arguments) {
    return Function(arguments...);
  }
#endif

  static Pointer best() {
#if defined(__x86_64__)
    if (instruction_set() == InstructionSet::kAvx512) return &avx512;
    if (instruction_set() == InstructionSet::kAvx2) return &avx2;
#endif
    return &portable;
  }
};

}  // namespace fsstream
