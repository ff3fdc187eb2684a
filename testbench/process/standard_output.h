// Standard output that tells when it could not be written: a full disk must not look like success.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace tlmssd {

/// Stands behind std::cout as long as it lives, and remembers the first failure.
class StandardOutput : public std::streambuf {
 public:
  StandardOutput();
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Writes what is left. Throws InputError with the reason when anything has been lost. A reader that closed its end of a
  /// pipe (`| head`) has what it wanted: that is no failure.
  void finish();

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* from, std::streamsize size) override;
  int sync() override;

  std::streambuf* before_;
  std::string buffer_;
  int error_ = 0;
};

/// Prepares what every process needs before it opens or writes anything: descriptors 0 to 2 are taken, so that no file can
/// become standard output by accident, and a write to a closed pipe or beyond a size limit is an error, not a signal.
void prepare_standard_streams();

}  // namespace tlmssd
