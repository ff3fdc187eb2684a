#include "testbench/process/standard_output.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

#include "models/base/input_error.h"

namespace tlmssd {
namespace {

constexpr std::size_t k_buffer = std::size_t{1} << 16U;

/// Writes all of it; the error that keeps it from that, or 0.
int write_all(const char* from, std::size_t size) {
  while (size != 0) {
    const ssize_t written = write(STDOUT_FILENO, from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    from += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

}  // namespace

StandardOutput::StandardOutput() : before_(std::cout.rdbuf(this)) {}

StandardOutput::~StandardOutput() {
  sync();
  std::cout.rdbuf(before_);
}

void StandardOutput::finish() {
  sync();
  if (error_ != 0 && error_ != EPIPE) throw not_written("standard output", "cannot be written", error_);
}

StandardOutput::int_type StandardOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize StandardOutput::xsputn(const char* from, std::streamsize size) {
  buffer_.append(from, static_cast<std::size_t>(size));
  if (buffer_.size() >= k_buffer) sync();
  return error_ == 0 ? size : 0;
}

int StandardOutput::sync() {
  if (error_ == 0) error_ = write_all(buffer_.data(), buffer_.size());
  buffer_.clear();
  return error_ == 0 ? 0 : -1;
}

void prepare_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // Read-only: what is written to a closed standard output must fail.
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) static_cast<void>(open("/dev/null", O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tlmssd
