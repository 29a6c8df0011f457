#include "parse/plain_fields.hpp"

#include "hash/identity.hpp"
#include "parse/plain_number.hpp"
#include "parse/view.hpp"

namespace fsstream {

namespace {

// Field after field is taken from one look at the text, as long as its end is in view.
template <class Machine, FieldShape kShape>
[[gnu::always_inline]] inline void read_fields(FieldCursor& at, const char* last) {
  FieldCursor to = at;
  const char* p = at.p;
  bool plain = true;
  while (plain && p < last) {
    const char* const view = p;
    std::uint64_t blanks = Machine::blanks(view);
    std::uint64_t colons = kShape == FieldShape::kWord ? 0 : Machine::equal(view, ':');
    const std::uint64_t bars = kShape == FieldShape::kFeature ? Machine::equal(view, '|') : 0;
    while (blanks != 0) {
      const std::uint64_t before_stop = blanks ^ (blanks - 1);  // up to the stop, which is neither
      const char* const stop = view + first_of(blanks);
      if (stop == p && *p == ' ') {  // another blank
        ++p;
        blanks &= blanks - 1;
        continue;
      }
      const char* const name = plain_name_end<kShape>(view, stop, colons & before_stop, bars & before_stop);
      plain = name != nullptr && name != p && (*stop == ' ' || *stop == '\n');
      if (!plain) break;
      *to.value = 1;
      plain = name == stop || read_any_value(name + 1, stop, *to.value);
      if (!plain) break;
      const auto size = static_cast<std::size_t>(name - p);
      *to.key++ = key_of_name({p, size});
      *to.name++ = {static_cast<std::uint32_t>(p - to.text), static_cast<std::uint32_t>(size)};
      ++to.value;
      p = stop;
      plain = *stop == ' ';
      if (!plain) break;
      ++p;
      blanks &= blanks - 1;
      colons &= ~before_stop;
    }
    plain = plain && p != view;
  }
  to.p = p;
  at = to;
}

#if defined(__x86_64__)

template <FieldShape kShape>
[[gnu::target("avx2,bmi,bmi2")]] void read_with_avx2(FieldCursor& at, const char* last) {
  read_fields<Avx2View, kShape>(at, last);
}

#endif

template <FieldShape kShape>
FieldReader best_reader() {
  const FieldReader wide = wide_field_reader(kShape);
  if (wide != nullptr && instruction_set() == InstructionSet::kAvx512) return wide;
#if defined(__x86_64__)
  if (has_avx2()) return &read_with_avx2<kShape>;
#endif
  return &read_fields<PortableView, kShape>;
}

template <FieldShape kShape>
void read_plain(FieldCursor& at, const char* last) {
  static const FieldReader best = best_reader<kShape>();
  best(at, last);
}

}  // namespace

Key key_of_any_name(const char* name, std::size_t size) { return key_of_name({name, size}); }

bool read_any_value(const char* p, const char* stop, float& value) {
  return read_plain_value(p, stop, value) || read_number(p, stop, value) == stop;
}

void read_plain_words(FieldCursor& at, const char* last) { read_plain<FieldShape::kWord>(at, last); }
void read_plain_pairs(FieldCursor& at, const char* last) { read_plain<FieldShape::kPair>(at, last); }
void read_plain_features(FieldCursor& at, const char* last) { read_plain<FieldShape::kFeature>(at, last); }

}  // namespace fsstream
