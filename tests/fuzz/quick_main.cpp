// A fast driver for the targets of fuzz_target.cpp: no coverage, no sanitizers, one process that never starts anew.
//
//   quick-NAME SECONDS RUNS SEED FINDING FOLDER...     (0 seconds, 0 runs: no limit)
//
// Small changes of the inputs in the folders, which libFuzzer chose for reaching something new: what it does not
// see, a wrong row or a crash, is what ends this program, with the input in the file FINDING. Prints how many ran.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kShort = 32, kLongest = 96;  // bytes of an input; three of four are short, and cost a third
constexpr std::uint64_t kBetweenLooks = 4096;      // runs between two looks at the clock
constexpr std::string_view kLetters = "0123456789.:-+eE|'\"{}[],\\ \t\n\r#>@ACGTNn/*_";

class Mutator {
 public:
  Mutator(std::vector<std::string> kept, std::uint64_t seed) : kept_(std::move(kept)), state_(seed) {}

  // Another input each time; it holds until the next one.
  std::string_view next() {
    const std::string& kept = kept_[below(kept_.size())];
    const std::size_t longest = below(4) == 0 ? kLongest : kShort;
    const std::size_t from = kept.size() > longest ? below(kept.size() - longest + 1) : 0;
    input_.assign(kept, from, longest);
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change();
    while (input_.size() < 2) input_.push_back(byte());
    if (input_.size() > longest) input_.resize(longest);
    return input_;
  }
  std::string_view current() const { return input_; }

 private:
  // splitmix64
  std::uint64_t draw() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(((draw() >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
  }
  char byte() { return below(4) == 0 ? static_cast<char>(below(256)) : kLetters[below(kLetters.size())]; }

  void change() {
    const std::size_t place = below(input_.size() + 1);
    const std::size_t length = 1 + below(8);
    switch (input_.empty() ? 1 : below(6)) {
      case 0:
        input_[place % input_.size()] = byte();
        break;
      case 1:
        input_.insert(place, 1, byte());
        break;
      case 2:
        input_.erase(place, length);
        break;
      case 3:
        input_.insert(place, std::string(input_, below(input_.size()), length));
        break;
      case 4:
        input_[place % input_.size()] ^= static_cast<char>(1U << below(8));
        break;
      default: {  // the rest of another one
        const std::string& other = kept_[below(kept_.size())];
        input_.resize(place);
        input_.append(other, below(other.size() + 1), std::string::npos);
      }
    }
  }

  std::vector<std::string> kept_;
  std::uint64_t state_;
  std::string input_;
};

std::vector<std::string> inputs_of(char** folders, int count) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i) {
    for (const auto& file : std::filesystem::directory_iterator(folders[i])) paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs{"12"};
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
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
  if (argc < 6) return 2;
  LLVMFuzzerInitialize(&argc, &argv);
  const auto limit = std::chrono::seconds(std::strtoull(argv[1], nullptr, 10));
  const std::uint64_t most = std::strtoull(argv[2], nullptr, 10);
  Mutator mutator(inputs_of(argv + 5, argc - 5), std::strtoull(argv[3], nullptr, 10));
  running = &mutator;
  finding = argv[4];
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU}) std::signal(signal, keep_finding);

  const auto start = std::chrono::steady_clock::now();
  std::uint64_t runs = 0;
  while (most == 0 || runs < most) {
    if (runs % kBetweenLooks == 0 && limit.count() != 0 && std::chrono::steady_clock::now() - start >= limit) break;
    const std::string_view input = mutator.next();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++runs;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(runs));
  return 0;
}
