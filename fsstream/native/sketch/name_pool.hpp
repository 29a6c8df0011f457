// NamePool: the bytes of the names of active features. Names that a key spells by itself
// (numbers, k-mers) are not stored. Bytes are only added; compaction builds a new pool.
#pragma once

#include <string>
#include <string_view>

#include "core/batch.hpp"

namespace fsstream {

struct NameRef {
  static constexpr std::uint32_t kDecimal = 0xffffffff;
  static constexpr std::uint32_t kKmer = 0xfffffe00;  // plus the number of letters
  std::uint64_t offset = 0;
  std::uint32_t length = 0;  // of the stored bytes, or kDecimal, or kKmer + letters

  bool stored() const { return length < kKmer; }
};

class NamePool {
 public:
  NameRef add(std::string_view name) {
    const NameRef ref{bytes_.size(), static_cast<std::uint32_t>(name.size())};
    bytes_.append(name.data(), name.size());
    return ref;
  }
  // The name of entry `j` of a batch, stored only if its key does not spell it.
  NameRef add(const Batch& batch, std::size_t j) {
    if (batch.naming == Naming::kDecimal) return {0, NameRef::kDecimal};
    if (batch.naming == Naming::kKmer) return {0, NameRef::kKmer + static_cast<std::uint32_t>(batch.kmer_length)};
    return add(batch.view(batch.names[j]));
  }
  std::string_view stored(NameRef ref) const { return {bytes_.data() + ref.offset, ref.length}; }
  std::string spell(NameRef ref, Key key) const {
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
  Buffer<char> bytes_;
};

}  // namespace fsstream
