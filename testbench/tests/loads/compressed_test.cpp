// Compressed traces: the same requests as plain, and a clear word when they are cut off.
#include "compressed.h"

#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <catch2/catch.hpp>

#include "files.h"

using namespace tlmssd;
using namespace tlmssd::test;

namespace {

namespace io = boost::iostreams;

std::string many_lines(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i)
    text +=
        std::to_string(i * 10) + ",h,0,Write," + std::to_string((i * 7919L) % 100003 * 4096) + ",4096,0\n";
  return text;
}

}  // namespace

TEST_CASE("compressed traces read like plain ones, and cut-off ones are refused") {
  const std::string text = many_lines(100000);
  const auto plain = read_text(text);
  const std::pair<std::string, std::string> files[] = {{"gzip", compressed<io::gzip_compressor>(text)},
                                                       {"bzip2", compressed<io::bzip2_compressor>(text)},
                                                       {"xz", compressed<io::lzma_compressor>(text)},
                                                       {"zstd", compressed<io::zstd_compressor>(text)}};
  for (const auto& file : files) {
    const std::string& name = file.first;
    const std::string& bytes = file.second;
    INFO(name);
    CHECK(read_text(bytes) == plain);
    for (const std::size_t keep : {bytes.size() - 1, bytes.size() - 11, bytes.size() / 2, std::size_t{7}}) {
      const std::string message = message_of([&] { read_text(bytes.substr(0, keep), "msr"); });
      CHECK_THAT(message, Catch::StartsWith("t:") &&
                              Catch::Contains(": the " + name + " data are damaged or cut off"));
      CHECK_THAT(message, !Catch::Contains("beginning"));  // which is not known
    }
  }
}

TEST_CASE("two compressed files one after another are one trace") {
  const std::string text = many_lines(1000);
  for (const std::string& bytes :
       {compressed<io::gzip_compressor>(text), compressed<io::bzip2_compressor>(text),
        compressed<io::zstd_compressor>(text)}) {
    CHECK(read_text(bytes + bytes).size() == 2000);
  }
}

TEST_CASE("damage inside a compressed trace never crashes") {
  const std::string text = many_lines(3000);
  for (const std::string& bytes :
       {compressed<io::gzip_compressor>(text), compressed<io::bzip2_compressor>(text),
        compressed<io::lzma_compressor>(text), compressed<io::zstd_compressor>(text)}) {
    for (std::size_t i = 6; i < bytes.size(); i += bytes.size() / 40) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
      message_of([&] { read_text(damaged, "msr"); });
    }
  }
}

TEST_CASE("a byte order mark before the first line is passed over, as in YAML") {
  const std::string text = many_lines(10);
  const std::string marked = "\xEF\xBB\xBF" + text;
  const auto plain = read_text(text);
  CHECK(read_text(marked) == plain);
  CHECK(read_text(marked, "msr") == plain);
  CHECK(read_text(compressed<io::gzip_compressor>(marked)) == plain);
  CHECK(read_text(compressed<io::zstd_compressor>(marked)) == plain);
  CHECK(message_of([] { read_text("\xEF\xBB\xBF"); }) == "t: is empty, expected a trace");
  CHECK(message_of([&] { read_text("\xEF\xBB" + text, "msr"); }) != "");
  CHECK(message_of([&] { read_text(text + "\xEF\xBB\xBF" + text, "msr"); }) != "");
}

TEST_CASE("an empty compressed file is an empty trace") {
  CHECK(message_of([] { read_text(compressed<io::gzip_compressor>("")); }) ==
        "t: is empty, expected a trace");
}
