// NamePool: the bytes of the names of active features. Names that a key spells by itself
// (numbers, k-mers) are not stored. Bytes are only added; compaction builds a new pool.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/batch.hpp"

namespace fsstream {

// Short names lie in the reference itself: checking a feature's name costs no second miss.
struct NameRef {
  static constexpr std::uint32_t kDecimal = 0xffffffff;
  static constexpr std::uint32_t kKmer = 0xfffffe00;  // plus the number of letters
  static constexpr std::uint32_t kShort = 12;
  std::uint32_t length = 0;  // of the stored bytes, or kDecimal, or kKmer + letters
  char bytes[kShort] = {};   // the name, or its offset in the pool if it is longer

  static NameRef spelled(std::uint32_t how) {
    NameRef ref;
    ref.length = how;
    return ref;
  }
  bool stored() const { return length < kKmer; }
  bool pooled() const { return stored() && length > kShort; }
};

class NamePool {
 public:
  NameRef add(std::string_view name) {
    NameRef ref;
    ref.length = static_cast<std::uint32_t>(name.size());
    if (name.size() <= NameRef::kShort) {
      if (!name.empty()) std::memcpy(ref.bytes, name.data(), name.size());
      return ref;
    }
    const std::uint64_t offset = bytes_.size();
    std::memcpy(ref.bytes, &offset, sizeof offset);
    bytes_.append(name.data(), name.size());
    return ref;
  }
  // The name of entry `j` of a batch, stored only if its key does not spell it.
  NameRef add(const Batch& batch, std::size_t j) {
    if (batch.naming == Naming::kDecimal) return NameRef::spelled(NameRef::kDecimal);
    if (batch.naming == Naming::kKmer)
      return NameRef::spelled(NameRef::kKmer + static_cast<std::uint32_t>(batch.kmer_length));
    return add(batch.view(batch.names[j]));
  }
  // Points into `ref` if the name is short.
  std::string_view stored(const NameRef& ref) const {
    if (ref.length <= NameRef::kShort) return {ref.bytes, ref.length};
    std::uint64_t offset;
    std::memcpy(&offset, ref.bytes, sizeof offset);
    return {bytes_.data() + offset, ref.length};
  }
  bool is(const NameRef& ref, std::string_view name) const {
    return name.size() == ref.length && equal(stored(ref).data(), name.data(), name.size());
  }
  std::string spell(const NameRef& ref, Key key) const {
    std::string name;
    if (ref.stored())
      name = stored(ref);
    else if (ref.length == NameRef::kDecimal)
      name = std::to_string(key);
    else
      append_kmer(key, static_cast<int>(ref.length - NameRef::kKmer), name);
    return name;
  }
  std::size_t bytes() const { return bytes_.capacity(); }

 private:
  // memcmp for sizes known only now is a call; most names are about as long as a word or two.
  static bool equal(const char* a, const char* b, std::size_t size) {
    if (size < 8 || size > 16) return std::memcmp(a, b, size) == 0;
    return word_at(a) == word_at(b) && word_at(a + size - 8) == word_at(b + size - 8);
  }
  static std::uint64_t word_at(const char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }

  Buffer<char> bytes_;
};

}  // namespace fsstream
