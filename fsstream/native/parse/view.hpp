// Views: a look at the next 64 bytes of text that gives a mask with one bit for each byte, the first byte lowest. There
// is one struct for each kind of machine, and all give the same masks. All 64 bytes must be readable.
#pragma once

#include <cstdint>

#include "core/multiversion.hpp"
#include "parse/byte_mask.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fsstream {

struct PortableView {
  static std::uint64_t blanks(const char* p) { return controls(p) | std::uint64_t{controls(p + kWindow)} << kWindow; }
  static std::uint64_t equal(const char* p, char c) {
    return equal_to(p, c) | std::uint64_t{equal_to(p + kWindow, c)} << kWindow;
  }
};

#if defined(__x86_64__)

struct Avx2View {
  [[gnu::target("avx2,bmi,bmi2")]] static __m256i load(const char* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  [[gnu::target("avx2,bmi,bmi2")]] static std::uint64_t both(__m256i low, __m256i high) {
    const auto low_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
    const auto high_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
    return low_bits | std::uint64_t{high_bits} << 32;
  }
  [[gnu::target("avx2,bmi,bmi2")]] static __m256i blank(__m256i bytes) {
    return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(' ')), bytes);
  }
  [[gnu::target("avx2,bmi,bmi2")]] static std::uint64_t blanks(const char* p) {
    return both(blank(load(p)), blank(load(p + 32)));
  }
  [[gnu::target("avx2,bmi,bmi2")]] static std::uint64_t equal(const char* p, char c) {
    const __m256i wanted = _mm256_set1_epi8(c);
    return both(_mm256_cmpeq_epi8(load(p), wanted), _mm256_cmpeq_epi8(load(p + 32), wanted));
  }
};

// Whether the machine has what Avx2View asks of it.
inline bool has_avx2() {
  return instruction_set() != InstructionSet::kPortable && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

#endif

}  // namespace fsstream
