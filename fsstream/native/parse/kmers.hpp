// KmerCounter: the letters of one row of DNA -> its k-mers and how often each occurs.
//
// A window of K letters is a key of 2 bits a letter, A=0 C=1 G=2 T=3, first base highest;
// canonical: the smaller of the word and its reverse complement, both rolled at once.
// Soft-masked (lower-case) bases are bases. A window with any other letter gives nothing
// and is counted in batch.skipped_windows.
//
// Windows run on over the seam between two calls of feed(), as sequences do over lines.
//
// Repeats are added up through an open-addressing table of entry numbers. Numbers only grow
// from row to row, so whatever an earlier row left in the table reads as an empty slot and
// nothing is cleared between rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/fault.hpp"
#include "parse/parser.hpp"

namespace fsstream {

class KmerCounter {
 public:
  static constexpr int kLongest = 32;
  static constexpr Fault kStranger{"a letter of a sequence",
                                   "bases are letters; white space, digits and signs are not"};

  KmerCounter(int length, bool canonical);

  // Tells the batch how its keys are named and makes room; once per batch, before the first row.
  void start(Batch& batch) const;

  // Begins a row of at most `letters` letters.
  void begin_row(std::size_t letters);

  // The next letters of the row. Returns the first byte that is no letter of any
  // sequence alphabet (a digit, white space, a control byte), or nullptr: all went well.
  const char* feed(Batch& batch, std::string_view letters);

  // The row's counts become values; the caller ends or drops the row.
  void end_row(Batch& batch);

 private:
  static constexpr std::size_t kChunk = 256;

  // The words of at most kChunk letters, in order; stops before a byte that is no letter.
  template <bool kCanonical>
  std::size_t roll(const char*& letter, const char* end, Key* words);

  void add(Batch& batch, const Key* words, std::size_t size);

  const int length_;
  const bool canonical_;
  const Key mask_;

  // Of the row at hand.
  Key forward_ = 0;          // the last letters, the newest lowest
  Key backward_ = 0;         // their complements, the newest highest
  std::size_t run_ = 0;      // letters since the last one that is no base
  std::uint64_t seen_ = 0;   // letters of the row
  std::uint64_t words_ = 0;  // windows counted
  std::uint32_t distinct_ = 0;

  std::vector<std::uint32_t> slots_;
  std::uint32_t first_ = 1;  // number of the row's first entry; smaller ones are empty slots
  int shift_ = 0;            // 64 less the bits of the part of the table the row uses
};

}  // namespace fsstream
