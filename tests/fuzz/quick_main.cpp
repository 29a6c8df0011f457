// A fast driver for the targets of fuzz_target.cpp: no coverage, no sanitizers, one process that never starts anew.
//
//   quick-NAME SECONDS RUNS SEED TOGETHER FINDING FOLDER...     (0 seconds, 0 runs: no limit)
//
// Small changes of the inputs in the folders, which libFuzzer chose for reaching something new: what it does not
// see, a wrong row or a crash, is what ends this program, with the text in the file FINDING. An execution is one
// input made and given to one parser, whole and cut: TOGETHER of them at once, a line feed behind each, so that
// calls, cuts and comparisons are of many records. Prints how many ran.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kShort = 20, kLongest = 96;  // bytes of an input; seven of eight are short, and cost a fifth
constexpr std::size_t kMost = 1024;                // inputs at once
constexpr std::uint64_t kBetweenLooks = 4096;      // texts between two looks at the clock
constexpr std::string_view kLetters = "0123456789.:-+eE|'\"{}[],\\ \t\n\r#>@ACGTNn/*_abc0123456789: :0123456";
static_assert(kLetters.size() == 64);

class Mutator {
 public:
  Mutator(std::vector<std::string> kept, std::uint64_t seed) : kept_(std::move(kept)), state_(seed) {}

  // Two bytes that draw the cut, and so many inputs; another text each time, which holds until the next one.
  std::string_view next(std::size_t inputs) {
    const std::uint64_t drawn = draw();
    std::memcpy(text_, &drawn, kDraw);
    end_ = text_ + kDraw;
    for (std::size_t i = 0; i < inputs; ++i) {
      if (i != 0) *end_++ = '\n';
      make();
    }
    return current();
  }
  std::string_view current() const { return {text_, static_cast<std::size_t>(end_ - text_)}; }

 private:
  static constexpr std::size_t kDraw = 2, kGrowth = 8;

  // splitmix64
  std::uint64_t draw() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // The top 32 bits of a draw as a number below the bound.
  static std::size_t below(std::uint64_t drawn, std::size_t bound) {
    return static_cast<std::size_t>(((drawn >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
  }

  // Appends one input: a piece of a kept one, changed at one to four places.
  void make() {
    const std::uint64_t drawn = draw();
    const std::string& kept = kept_[below(drawn, kept_.size())];
    const std::size_t longest = drawn % 8 == 0 ? kLongest : kShort;
    const std::size_t size = std::min(kept.size(), longest);
    const std::size_t from = kept.size() > longest ? below(drawn << 16U, kept.size() - longest + 1) : 0;
    std::memcpy(end_, kept.data() + from, size);
    size_ = size;
    for (std::size_t changes = 1 + (drawn >> 3U) % 4; changes > 0; --changes) change(longest);
    end_ += size_;
  }

  void change(std::size_t longest) {
    const std::uint64_t drawn = draw();
    const std::size_t place = below(drawn, size_ + 1);
    const std::size_t length = std::min<std::size_t>(1 + drawn % kGrowth, size_ - place);
    const auto bits = static_cast<std::size_t>(drawn >> 8U) & 0xffU;
    const char byte = (drawn >> 16U) % 4 == 0 ? static_cast<char>(bits) : kLetters[bits % kLetters.size()];
    char* const at = end_ + place;
    switch (length == 0 ? 1 : (drawn >> 3U) % 6) {
      case 0:
        *at = byte;
        break;
      case 1:
        insert(at, &byte, 1);
        break;
      case 2:
        std::memmove(at, at + length, size_ - place - length);
        size_ -= length;
        break;
      case 3: {
        char again[kGrowth];
        std::memcpy(again, at, length);
        insert(end_ + bits % (size_ + 1), again, length);
        break;
      }
      case 4:
        *at ^= static_cast<char>(1U << (bits % 8));
        break;
      default: {  // the rest of another one
        const std::string& other = kept_[below(drawn << 24U, kept_.size())];
        const std::size_t from = bits % (other.size() + 1);
        const std::size_t more = std::min(other.size() - from, kLongest - place);
        std::memcpy(at, other.data() + from, more);
        size_ = place + more;
      }
    }
    size_ = std::min(size_, longest);
  }

  void insert(char* at, const char* bytes, std::size_t count) {
    std::memmove(at + count, at, static_cast<std::size_t>(end_ + size_ - at));
    std::memcpy(at, bytes, count);
    size_ += count;
  }

  std::vector<std::string> kept_;
  std::uint64_t state_;
  char text_[kDraw + kMost * (kLongest + kGrowth + 1)];
  char* end_ = text_;     // of the finished inputs
  std::size_t size_ = 0;  // of the one being made, behind them
};

std::vector<std::string> inputs_of(char** folders, int count) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i) {
    for (const auto& file : std::filesystem::directory_iterator(folders[i])) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs{"1 a"};
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    inputs.push_back(input.substr(std::min<std::size_t>(input.size(), 2)));  // two bytes draw its cut
  }
  return inputs;
}

Mutator* running;
const char* finding;

void keep_finding(int) {
  if (std::FILE* file = std::fopen(finding, "wb")) {
    std::fwrite(running->current().data(), 1, running->current().size(), file);
    std::fclose(file);
  }
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  LLVMFuzzerInitialize(&argc, &argv);
  const auto limit = std::chrono::seconds(std::strtoull(argv[1], nullptr, 10));
  const std::uint64_t most = std::strtoull(argv[2], nullptr, 10);
  const std::size_t together = std::clamp<std::size_t>(std::strtoull(argv[4], nullptr, 10), 1, kMost);
  const auto mutator = std::make_unique<Mutator>(inputs_of(argv + 6, argc - 6), std::strtoull(argv[3], nullptr, 10));
  running = mutator.get();
  finding = argv[5];
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU}) std::signal(signal, keep_finding);

  const auto start = std::chrono::steady_clock::now();
  std::uint64_t texts = 0;
  while (most == 0 || texts * together < most) {
    if (texts % kBetweenLooks == 0 && limit.count() != 0 && std::chrono::steady_clock::now() - start >= limit) break;
    const std::string_view text = mutator->next(together);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    ++texts;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(texts * together));
  return 0;
}
