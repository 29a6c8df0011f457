#include "parse/kmers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>

namespace fsstream {

namespace {

constexpr std::uint8_t kOtherLetter = 4;
constexpr std::uint8_t kNoLetter = 5;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kNoLetter);
  for (int letter = 'A'; letter <= 'Z'; ++letter) {
    codes[static_cast<std::size_t>(letter)] = kOtherLetter;
    codes[static_cast<std::size_t>(letter + 'a' - 'A')] = kOtherLetter;
  }
  for (const char gap : {'-', '*', '.'}) codes[static_cast<std::size_t>(gap)] = kOtherLetter;
  std::uint8_t code = 0;
  for (const char base : {'A', 'C', 'G', 'T'}) {
    codes[static_cast<std::size_t>(base)] = code;
    codes[static_cast<std::size_t>(base + 'a' - 'A')] = code;
    ++code;
  }
  return codes;
}

constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

// A count is kept as an integer in the bits of its value until the row ends: a float
// stops counting at 2^24, and a record may be longer.
float next_count(float bits) { return std::bit_cast<float>(std::bit_cast<std::int32_t>(bits) + 1); }

}  // namespace

KmerCounter::KmerCounter(int length, bool canonical)
    : length_(length),
      canonical_(canonical),
      mask_(std::numeric_limits<Key>::max() >> (64 - 2 * std::clamp(length, 1, kLongest))) {
  if (length < 1 || length > kLongest) throw std::invalid_argument("a k-mer has 1 to 32 letters");
}

void KmerCounter::start(Batch& batch) const {
  batch.naming = Naming::kKmer;
  batch.kmer_length = length_;
  batch.reserve(0, batch.text_size);  // no more windows than bytes
}

void KmerCounter::begin_row(std::size_t letters) {
  forward_ = backward_ = 0;
  run_ = 0;
  seen_ = words_ = 0;
  first_ += distinct_;
  distinct_ = 0;

  const std::uint64_t kinds = length_ < 16 ? std::uint64_t{1} << (2 * length_) : letters;
  const std::uint64_t most = std::min<std::uint64_t>(letters, kinds);
  // A row that fits the cache gets a sparse table: a slot taken by another word costs more than its room.
  const std::uint64_t wanted = std::bit_ceil(std::max(2 * most, std::min<std::uint64_t>(8 * most + 2, 4096)));
  if (slots_.size() < wanted) {
    slots_.assign(wanted, 0);
    first_ = 1;
  }
  if (most > std::numeric_limits<std::uint32_t>::max() - first_) {
    std::fill(slots_.begin(), slots_.end(), 0);
    first_ = 1;
  }
  shift_ = 64 - std::countr_zero(wanted);
}

template <bool kCanonical>
std::size_t KmerCounter::roll(const char*& letter, const char* end, Key* words) {
  const Key mask = mask_;
  std::array<Key, 4> complements;  // a base's complement where the newest one of a backward word stands
  for (Key code = 0; code < 4; ++code) complements[code] = (3 - code) << (2 * (length_ - 1));
  const auto length = static_cast<std::size_t>(length_);
  Key forward = forward_;
  Key backward = backward_;
  std::size_t run = run_;
  std::size_t size = 0;
  const char* p = letter;
  for (; p != end; ++p) {
    const std::uint8_t code = kCodes[static_cast<unsigned char>(*p)];
    if (code >= kOtherLetter) [[unlikely]] {
      if (code == kNoLetter) break;
      run = 0;
      continue;
    }
    forward = ((forward << 2) | code) & mask;
    if constexpr (kCanonical) backward = (backward >> 2) | complements[code];
    if (++run >= length) words[size++] = kCanonical ? std::min(forward, backward) : forward;
  }
  letter = p;
  forward_ = forward;
  backward_ = backward;
  run_ = run;
  return size;
}

// Apart from roll(), so that neither loop waits for the other: a table look-up is a chain of
// loads, rolling a chain of shifts.
void KmerCounter::add(Batch& batch, const Key* words, std::size_t size) {
  const std::size_t row = batch.entries() - distinct_;
  Key* const keys = batch.keys.data() + row;
  float* const counts = batch.values.data() + row;
  std::uint32_t* const slots = slots_.data();
  const std::uint64_t last_slot = ~std::uint64_t{0} >> shift_;
  const std::uint32_t first = first_;
  std::uint32_t distinct = distinct_;
  for (const Key* word = words; word != words + size; ++word) {
    std::uint64_t slot = (*word * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (true) {
      const std::uint32_t entry = slots[slot] - first;  // wraps far beyond `distinct` when empty
      if (entry >= distinct) {
        slots[slot] = first + distinct;
        keys[distinct] = *word;
        counts[distinct] = std::bit_cast<float>(std::int32_t{1});
        ++distinct;
        break;
      }
      if (keys[entry] == *word) {
        counts[entry] = next_count(counts[entry]);
        break;
      }
      slot = (slot + 1) & last_slot;
    }
  }
  distinct_ = distinct;
  words_ += size;
  batch.keys.set_size(row + distinct);
  batch.values.set_size(row + distinct);
}

const char* KmerCounter::feed(Batch& batch, std::string_view letters) {
  std::array<Key, kChunk> words;
  const char* letter = letters.data();
  const char* const end = letter + letters.size();
  seen_ += letters.size();
  while (letter != end) {
    const char* const chunk_end = letter + std::min<std::size_t>(kChunk, static_cast<std::size_t>(end - letter));
    const std::size_t size =
        canonical_ ? roll<true>(letter, chunk_end, words.data()) : roll<false>(letter, chunk_end, words.data());
    add(batch, words.data(), size);
    if (letter != chunk_end) return letter;
  }
  return nullptr;
}

void KmerCounter::end_row(Batch& batch) {
  float* const counts = batch.values.data() + batch.values.size() - distinct_;
  for (std::uint32_t j = 0; j < distinct_; ++j) counts[j] = static_cast<float>(std::bit_cast<std::int32_t>(counts[j]));
  const auto length = static_cast<std::uint64_t>(length_);
  if (seen_ >= length) batch.skipped_windows += seen_ - length + 1 - words_;
}

}  // namespace fsstream
