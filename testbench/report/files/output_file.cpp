#include "testbench/report/files/output_file.h"

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <fstream>

#include "models/base/input_error.h"

namespace tlmssd {

struct OutputFile::Stream {
  std::ofstream file;
  boost::iostreams::filtering_ostream out;
};

OutputFile::OutputFile(const std::string& path) : path_(path), stream_(std::make_unique<Stream>()) {
  buffer_.reserve(k_buffer + 4096);
  stream_->file.open(path, std::ios::binary | std::ios::trunc);
  if (!stream_->file) throw not_written(path, "cannot be written", errno);
  if (path.ends_with(".gz")) stream_->out.push(boost::iostreams::gzip_compressor(), k_buffer);
  if (path.ends_with(".zst")) stream_->out.push(boost::iostreams::zstd_compressor(), k_buffer);
  stream_->out.push(stream_->file, k_buffer);
}

OutputFile::~OutputFile() {
  try {
    if (stream_) close();
  } catch (...) {  // close() is where failures are told; here the file is being given up
  }
}

void OutputFile::incomplete() const {
  throw not_written(path_, "cannot be written in full", errno);
}

void OutputFile::flush() {
  stream_->out.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
  if (!stream_->out || !stream_->file) incomplete();
}

void OutputFile::close() {
  if (!stream_) return;
  const std::unique_ptr<Stream> stream = std::move(stream_);
  stream->out.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
  const bool good = static_cast<bool>(stream->out);
  stream->out.reset();
  stream->file.close();
  if (!good || !stream->file) incomplete();
}

}  // namespace tlmssd
