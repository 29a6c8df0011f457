#include "parse/json_columns.hpp"

#include <algorithm>

#include "hash/identity.hpp"
#include "parse/fields.hpp"

namespace fsstream {

namespace {

bool stands_for_itself(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

}  // namespace

JsonColumn* JsonColumns::find(const JsonColumn& parent, std::string_view key, std::uint64_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
    Slot& slot = slots_[place];
    if (slot.column == nullptr) {
      if (full_) return nullptr;
      slot = {hash, add(parent, key)};
      full_ = full_ || columns_.size() == kMost;
      if (slot.column != nullptr) held_[hash >> 54U] |= std::uint64_t{1} << (hash >> 48U & 63U);
      return slot.column;
    }
    if (slot.hash == hash && slot.column->parent == &parent && slot.column->key == key) return slot.column;
  }
}

JsonColumn* JsonColumns::add(const JsonColumn& parent, std::string_view key) {
  const std::size_t before = &parent == &root_ ? 0 : parent.path_size + 1;
  const std::size_t size = before + key.size();
  if (size > kLongestName) return nullptr;  // a fault of this record
  full_ = text_ + size > kMostText;
  if (full_) return nullptr;
  text_ += size;
  JsonColumn& column = columns_.emplace_back();
  if (before != 0) column.path.append(parent.name_text()).push_back('.');
  column.path.append(key);
  column.path_size = size;
  column.number = key_of_name(column.path);
  column.is_label = column.path == label_;
  column.path.append(kBehindPath);
  column.key = column.name_text().substr(before);
  column.parent = &parent;
  column.id = columns_.size();
  if (std::all_of(key.begin(), key.end(), stands_for_itself)) column.quoted.append(1, '"').append(key).push_back('"');
  std::memcpy(column.words.data(), column.quoted.data(), std::min(column.quoted.size(), sizeof column.words));
  for (std::size_t i = 0; i < std::min(column.quoted.size(), sizeof column.masks); ++i)
    column.masks[i / 8] |= std::uint64_t{0xff} << (8 * (i % 8));
  return &column;
}

}  // namespace fsstream
