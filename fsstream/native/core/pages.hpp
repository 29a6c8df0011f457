// A zeroed array of fixed size straight from the system, on huge pages where it is big:
// random access to a sketch of many megabytes is bound by address translation otherwise.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace fsstream {

template <class T>
class Pages {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kHuge = std::size_t{2} << 20;
  static constexpr std::size_t kWaste = 8;  // of so many parts of an array, one may be added for the last page

 public:
  Pages() = default;
  explicit Pages(std::size_t size) : size_(size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T) - 2 * kHuge) throw std::bad_alloc();
    bytes_ = size * sizeof(T);
    if (bytes_ == 0) return;
    // Big arrays start on a huge page, and own their last one whole where that wastes little.
    const std::size_t up = (bytes_ + kHuge - 1) / kHuge * kHuge;
    const std::size_t huge = up - bytes_ <= bytes_ / kWaste ? up : bytes_ / kHuge * kHuge;
    mapped_ = std::max(bytes_, huge) + (huge == 0 ? 0 : kHuge);
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) {
      base_ = nullptr;
      throw std::bad_alloc();
    }
    void* start = base_;
    if (huge != 0) {
      std::size_t space = mapped_;
      start = std::align(kHuge, std::max(bytes_, huge), start, space);
      madvise(start, huge, MADV_HUGEPAGE);  // a hint: without it the array is only slower
    }
    data_ = static_cast<T*>(start);
  }
  ~Pages() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  void swap(Pages& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
  }

  void* base_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace fsstream
