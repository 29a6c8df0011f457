#include "parse/plain_entries.hpp"

#include "core/multiversion.hpp"
#include "parse/plain_number.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fsstream {

namespace {

// The two numbers that runs of up to 8 digits make.
struct TwoNumbers {
  std::uint64_t first;
  std::uint64_t second;
};

struct Portable {
  static std::uint64_t others(const char* p) { return no_digits(p) | std::uint64_t{no_digits(p + kWindow)} << kWindow; }
  static TwoNumbers read(const char* a, std::uint64_t a_digits, const char* b, std::uint64_t b_digits) {
    return {swar::value_of_digits(swar::load(a), a_digits), swar::value_of_digits(swar::load(b), b_digits)};
  }
};

// `Machine` has the two steps that instruction sets differ in; the numbers are the same.
// Entry after entry is taken from one look at the text, as long as its ends are in view. The
// `goto` leaves two loops: the state is in registers and goes back to the cursor at the end.
template <class Machine>
[[gnu::always_inline]] inline void read_entries(EntryCursor& at, const char* last, std::uint64_t lowest) {
  std::uint64_t above = at.above;
  const char* p = at.p;
  Key* key = at.key;
  float* value = at.value;
  while (p < last) {
    const char* const view = p;
    std::uint64_t others = Machine::others(view);
    while (true) {
      std::uint64_t from_second = others & (others - 1);
      std::uint64_t from_third = from_second & (from_second - 1);
      if (from_third == 0) break;
      const char* const colon = view + first_of(others);
      const char* number = colon + 1;
      std::uint64_t sign = 0;
      if (*number == '-') [[unlikely]] {
        ++number;
        sign = kNegative;
        from_second = from_third;
        from_third &= from_third - 1;
        if (from_third == 0) break;
      }
      const char* begin;
      const char* stop;
      std::uint64_t places = 0;
      std::uint64_t whole = 0;
      if (begins_with_zero_point(number)) [[likely]] {
        begin = number + 2;
        stop = view + first_of(from_third);
        others = from_third & (from_third - 1);
        places = static_cast<std::uint64_t>(stop - begin);
      } else {
        begin = number;
        stop = view + first_of(from_second);
        others = from_third;
        if (*stop == '.') {
          const auto wholes = static_cast<std::uint64_t>(stop - begin);
          const char* const digits = begin;
          begin = stop + 1;
          stop = view + first_of(from_third);
          others = from_third & (from_third - 1);
          places = static_cast<std::uint64_t>(stop - begin);
          if (((wholes - 1) | (places - 1)) > 7) goto done;
          whole = swar::value_of_digits(swar::load(digits), wholes) * kIntegerPowersOfTen[places];
        }
      }
      const auto index_digits = static_cast<std::uint64_t>(colon - p);
      const auto run = static_cast<std::uint64_t>(stop - begin);
      if (((index_digits - 1) | (run - 1)) > 7 || *colon != ':') goto done;
      if (*stop != ' ' && *stop != '\n') [[unlikely]]
        goto done;
      const TwoNumbers read = Machine::read(p, index_digits, begin, run);
      if (!scale_down(read.second + whole, sign + places, *value)) goto done;
      if (read.first < above) [[unlikely]] {
        if (read.first < lowest) goto done;
        at.descends = true;
      }
      *key = read.first;
      above = read.first + 1;
      ++key;
      ++value;
      p = stop;
      if (*p != ' ') goto done;
      ++p;
    }
    if (p == view) break;
  }
done:
  at.p = p;
  at.key = key;
  at.value = value;
  at.above = above;
}

#if defined(__x86_64__)

struct Avx2 {
  // Digits are moved to the top of the signed range.
  [[gnu::target("avx2,bmi,bmi2")]] static std::uint64_t half(const char* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i moved = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x7f - '9'));
    const __m256i others = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x76), moved);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(others));
  }
  [[gnu::target("avx2,bmi,bmi2")]] static std::uint64_t others(const char* p) { return half(p) | half(p + 32) << 32; }
  // Pairs of digits, then of pairs, then of fours, for both numbers at once.
  [[gnu::target("avx2,bmi,bmi2")]] static TwoNumbers read(const char* a, std::uint64_t a_digits, const char* b,
                                                          std::uint64_t b_digits) {
    const std::uint64_t a_word = swar::load(a) << (-8 * a_digits & 63);
    const std::uint64_t b_word = swar::load(b) << (-8 * b_digits & 63);
    __m128i both = _mm_set_epi64x(static_cast<std::int64_t>(b_word), static_cast<std::int64_t>(a_word));
    both = _mm_subs_epu8(both, _mm_set1_epi8('0'));  // the zeros that were shifted in stay
    both = _mm_maddubs_epi16(both, _mm_set1_epi16(0x010a));
    both = _mm_madd_epi16(both, _mm_set1_epi32(0x00010064));
    both = _mm_packus_epi32(both, both);
    both = _mm_madd_epi16(both, _mm_set1_epi32(0x00012710));
    const auto numbers = static_cast<std::uint64_t>(_mm_cvtsi128_si64(both));
    return {numbers & 0xffffffff, numbers >> 32};
  }
};

[[gnu::target("avx2,bmi,bmi2")]] void read_with_avx2(EntryCursor& at, const char* last, std::uint64_t lowest) {
  read_entries<Avx2>(at, last, lowest);
}

#endif

}  // namespace

void read_plain_by_entries(EntryCursor& at, const char* last, std::uint64_t lowest) {
#if defined(__x86_64__)
  static const bool kVectors =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (kVectors) return read_with_avx2(at, last, lowest);
#endif
  read_entries<Portable>(at, last, lowest);
}

// The highest index is left to the reader of all entries, which knows that none is above it.
bool read_any_entry(const char* p, const char* colon, const char* stop, std::uint64_t& index, float& value) {
  return read_index(p, colon, index) == colon && index + 1 != 0 && read_number(colon + 1, stop, value) == stop;
}

void read_plain(EntryCursor& at, const char* last, std::uint64_t lowest) {
  static const EntryReader best = instruction_set() == InstructionSet::kAvx512 && wide_entry_reader() != nullptr
                                      ? wide_entry_reader()
                                      : &read_plain_by_entries;
  best(at, last, lowest);
}

}  // namespace fsstream
