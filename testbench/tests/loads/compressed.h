// Texts as a compressor leaves them.
#pragma once

#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <string>

namespace tlmssd::test {

template <class Compressor>
std::string compressed(const std::string& text) {
  namespace io = boost::iostreams;
  std::string result;
  io::filtering_ostream out;
  out.push(Compressor());
  out.push(io::back_inserter(result));
  out << text;
  out.reset();
  return result;
}

}  // namespace tlmssd::test
