// Short texts copied sixteen bytes at a time: as many bytes must be readable behind each, and there must be room for
// as many behind its copy.
#pragma once

#include <cstring>
#include <string_view>

namespace fsstream {

inline constexpr std::size_t kPiece = 16;

[[gnu::always_inline]] inline void copy_in_pieces(char* to, std::string_view from) {
  std::size_t done = 0;
  do {
    std::memcpy(to + done, from.data() + done, kPiece);
    done += kPiece;
  } while (done < from.size());
}

}  // namespace fsstream
