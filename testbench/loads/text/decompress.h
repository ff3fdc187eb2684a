// Streaming decompression (Boost.Iostreams) behind the ByteSource interface.
#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>

#include "testbench/loads/text/line_reader.h"

namespace tlmssd {

/// The compressed stream is damaged or cut off.
struct DamagedStream : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a file's first bytes say: "gzip", "bzip2", "xz", "zstd" or "plain".
std::string_view compression_of(std::string_view first_bytes);

/// Decompresses `raw`; its read() throws DamagedStream.
std::unique_ptr<ByteSource> make_decompressor(std::string_view compression, std::unique_ptr<ByteSource> raw);

}  // namespace tlmssd
