// Small writers and readers of binary data. The reader trusts nothing: every length is checked
// against the bytes that are there before anything is allocated or read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/buffer.hpp"
#include "core/errors.hpp"

namespace fsstream {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

class ByteWriter {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    array(&value, 1);
  }

  template <class T>
  void array(const T* values, std::size_t count) {
    bytes_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }

  // 7 bits a byte, lowest first.
  void varint(std::uint64_t value) {
    varints(1, [value](std::size_t) { return value; });
  }

  // number(0), number(1) ... number(count - 1), one after the other.
  template <class Number>
  void varints(std::size_t count, Number number) {
    char* const begin = room(count * kVarintBytes);
    char* to = begin;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t value = number(i);
      for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
      *to++ = static_cast<char>(value);
    }
    bytes_.set_size(bytes_.size() + static_cast<std::size_t>(to - begin));
  }

  // The next `count` bytes, to be filled by the caller.
  char* extend(std::size_t count) {
    char* const begin = room(count);
    bytes_.set_size(bytes_.size() + count);
    return begin;
  }

  Buffer<char> take() { return std::move(bytes_); }

 private:
  static constexpr std::size_t kVarintBytes = 10;  // of the largest

  char* room(std::size_t count) {
    bytes_.make_room(count);
    return bytes_.end();
  }

  Buffer<char> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const char* position() const { return at_; }

  template <class T>
  T get() {
    T value;
    array(&value, 1);
    return value;
  }

  template <class T>
  void array(T* out, std::size_t count) {
    need(count, sizeof(T));
    if (count != 0) std::memcpy(out, at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) throw CorruptData("it ends in the middle of a number");
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw CorruptData("a number is longer than 64 bits");
  }

  // The next `count` bytes, and past them.
  std::string_view bytes(std::size_t count) {
    need(count, 1);
    at_ += count;
    return {at_ - count, count};
  }

  // There must be `count` more things of at least this size: asked before room is made for them.
  void need(std::size_t count, std::size_t size) const {
    if (count > left() / size) throw CorruptData("it claims more data than it has");
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace fsstream
