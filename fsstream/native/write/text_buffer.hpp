// TextBuffer: the text of the rows being written. Numbers are the shortest that read back as
// the same float32; whole numbers have no exponent.
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>

#include "core/buffer.hpp"

namespace fsstream {

class TextBuffer {
 public:
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }
  std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }
  void cut(std::size_t size) { bytes_.set_size(size); }

  void add(std::string_view text) { bytes_.append(text.data(), text.size()); }
  void add(char c) { bytes_.push_back(c); }

  void add_number(float value) {
    constexpr float kExact = 16777216.0F;  // whole float32 numbers up to here are themselves
    bytes_.make_room(kLongest);
    char* const at = bytes_.end();
    const bool whole = std::fabs(value) <= kExact && value == std::trunc(value) && !std::signbit(value);
    const auto [end, error] = whole ? std::to_chars(at, at + kLongest, static_cast<std::int32_t>(value))
                                    : std::to_chars(at, at + kLongest, value);
    bytes_.set_size(static_cast<std::size_t>(end - bytes_.data()));
  }

  // Without exponent, as cells of tables are told to be numbers by.
  void add_decimal(float value) {
    constexpr std::size_t kLongestDecimal = 64;
    bytes_.make_room(kLongestDecimal);
    const auto [end, error] =
        std::to_chars(bytes_.end(), bytes_.end() + kLongestDecimal, value, std::chars_format::fixed);
    bytes_.set_size(static_cast<std::size_t>(end - bytes_.data()));
  }

 private:
  static constexpr std::size_t kLongest = 32;
  Buffer<char> bytes_;
};

}  // namespace fsstream
