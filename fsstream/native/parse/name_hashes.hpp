// Hashes of many names: eight at a time where there is AVX-512.
//
// Names that are composed are hashed some time after, not one by one as they are spelled: what was written a moment
// ago, in pieces, is not yet to be had in whole words.
#pragma once

#include "core/batch.hpp"

namespace fsstream {

// So many bytes behind the end of a name may be read.
inline constexpr std::size_t kBehindNames = 16;

// What murmur3_64 gives of each of the names, which lie in the arena.
void hash_names(const char* arena, const TextRef* names, std::size_t count, Key* hashes);

// What AVX-512 does it with; null where it was not compiled.
using NameHasher = void (*)(const char*, const TextRef*, std::size_t, Key*);
NameHasher wide_name_hasher();

}  // namespace fsstream
