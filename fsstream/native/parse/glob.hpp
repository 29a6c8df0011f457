// Glob: a shell pattern over whole names, the rules of Python's fnmatchcase.
//
//   *  any run of characters     ?  any one     [ab0-9]  one of these     [!ab]  one of the others
//
// A character is one of UTF-8; a byte that is no part of valid UTF-8 is a character of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fsstream {

class Glob {
 public:
  explicit Glob(std::string_view pattern);

  bool matches(std::string_view name) const;

 private:
  enum class Kind : std::uint8_t { kRun, kAny, kOneOf, kNoneOf };
  using Range = std::pair<char32_t, char32_t>;  // first and last

  struct Part {
    Kind kind;
    std::vector<Range> ranges;
    bool accepts(char32_t character) const;
  };

  // The end of the set that begins behind `set`, or nullptr when its bracket is a plain character.
  static const char* end_of_set(const char* set, const char* end);
  static Part read_set(const char* set, const char* end);

  std::vector<Part> parts_;
};

}  // namespace fsstream
