// A growable array that never initialises and never shrinks.
//
// Parsers reserve the most a block can hold, then write without checks: untouched
// pages of a generous reservation cost address space, not memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "core/ask.hpp"

namespace fsstream {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

  void clear() { size_ = 0; }
  // Declares how many elements are in use after direct writes through data().
  void set_size(std::size_t size) { size_ = size; }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* grown = std::realloc(data_, capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ < 16 ? 16 : 2 * capacity_);
    data_[size_++] = value;
  }

  // Room for `more` elements behind the last, to be written through end() and declared by set_size.
  void make_room(std::size_t more) {
    if (more > capacity_ - size_) reserve(size_ + more > 2 * capacity_ ? size_ + more : 2 * capacity_);
  }

  void append(const T* values, std::size_t count) {
    make_room(count);
    if (count != 0) std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
  }

  // Elements from `begin` on are about to be written, as far as there is room for them.
  void ask_to_write(std::size_t begin, std::size_t end) const {
    constexpr std::size_t kLine = 64;
    const std::size_t stop = (end < capacity_ ? end : capacity_) * sizeof(T);
    const char* const bytes = reinterpret_cast<const char*>(data_);
    for (std::size_t at = begin * sizeof(T); at < stop; at += kLine) fsstream::ask_to_write(bytes + at);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fsstream
