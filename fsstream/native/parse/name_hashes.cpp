#include "parse/name_hashes.hpp"

#include "core/multiversion.hpp"
#include "hash/murmur3.hpp"

namespace fsstream {

namespace {

void hash_one_by_one(const char* arena, const TextRef* names, std::size_t count, Key* hashes) {
  for (std::size_t i = 0; i < count; ++i)
    hashes[i] = murmur3_64({arena + (names[i].offset & ~TextRef::kArena), names[i].length});
}

NameHasher best_hasher() {
  const NameHasher wide = wide_name_hasher();
  return wide != nullptr && instruction_set() == InstructionSet::kAvx512 ? wide : &hash_one_by_one;
}

}  // namespace

void hash_names(const char* arena, const TextRef* names, std::size_t count, Key* hashes) {
  static const NameHasher best = best_hasher();
  best(arena, names, count, hashes);
}

}  // namespace fsstream
