// A short built-in fuzzing of the readers: mutations of sound inputs; nothing but an InputError may
// come of them.
#include <catch2/catch.hpp>

#include "fuzz_input.h"
#include "models/base/random.h"

using namespace tlmssd;

namespace {

const std::string k_seeds[] = {
    "128166372003061629,src1,0,Read,1024,4096,413\n128166372003061630,src1,1,Write,0,512,72\n",
    "938513000 4 264719034 16 0\n938513007 5 8 2 1\n",
    "0,20941264,8192,W,0.551706\n1,10,512,r,0.554041\n",
    "419,W,8792731648,16384,1577808144360767\n725,R,0,4096,1577808144360768\n",
    "1538323200,12910952,128,0,1063\n1538323202,8,8,1,1064\n",
    "fio version 3 iolog\n0 /dev/sdb add\n7 /dev/sdb write 4096 8192\n9 /dev/sdb trim 0 4096\n12 /dev/sdb "
    "datasync 0 0\n",
    "fio version 2 iolog\n/d read 0 512\n/d wait 250 0\n/d write 512 512\n",
    "  8,0    3        1     0.000000000   697  D  WS 223490 + 8 [kjournald]\n  8,0 3 2 0.5 0 D FN [k]\nCPU0 "
    "(8,0):\n",
    "W,0,4096,1.5\nR,8,512,2\nF,,,3\n",
    "[global]\nbs=8k\nsize=1m\n[a]\nrw=randrw\nbssplit=4k/50:8k/"
    "50\nruntime=10\ntime_based\nrandom_distribution=zipf:1.1\n",
};

std::string mutated(RandomStream& random) {
  static constexpr std::string_view k_pieces[] = {"18446744073709551615",
                                                  "-1",
                                                  "0",
                                                  ",",
                                                  " ",
                                                  "\n",
                                                  "\r\n",
                                                  "9223372036854775807",
                                                  "1e9",
                                                  ".",
                                                  "\"",
                                                  "\x1F\x8B\x08",
                                                  "\x28\xB5\x2F\xFD",
                                                  "BZh9",
                                                  "=",
                                                  "[",
                                                  "+"};
  std::string text = k_seeds[random.below(std::size(k_seeds))];
  for (std::uint64_t n = random.below(6); n > 0; --n) {
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(5)) {
      case 0:
        text.insert(at, k_pieces[random.below(std::size(k_pieces))]);
        break;
      case 1:
        text.erase(at, random.below(12));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return static_cast<char>(random.below(20)) + text;
}

}  // namespace

TEST_CASE("20,000 mutated inputs: nothing but InputError") {
  RandomStream random(1, "fuzz");
  for (int i = 0; i < 20000; ++i) fuzz::read_trace(mutated(random));
  SUCCEED();
}
