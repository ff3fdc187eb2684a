// How a trace file is to be read: its format and, for a CSV of no known kind, what its columns
// mean.
#pragma once

#include <string>

#include "models/base/parameters.h"

namespace tlmssd {

struct TraceConfig {
  std::string format = "auto";
  std::string zero_size = "refuse";
  Picoseconds max_disorder = 60'000'000'000'000;
  static const ParameterTable<TraceConfig>& parameters();
};

struct BlkparseConfig {
  std::string action = "D";
  static const ParameterTable<BlkparseConfig>& parameters();
};

/// The section `columns:`; columns are counted from 1, 0 means that there is none.
struct ColumnsConfig {
  std::uint32_t time = 0;
  std::uint32_t op = 1;
  std::uint32_t offset = 2;
  std::uint32_t size = 3;
  std::uint32_t device = 0;
  std::string time_unit = "s";
  Bytes offset_unit = 1;
  Bytes size_unit = 1;
  std::string read = "R,r,read,Read,READ";
  std::string write = "W,w,write,Write,WRITE";
  std::string trim = "D,d,T,t,trim,Trim,TRIM,discard,Discard,DISCARD";
  std::string flush = "F,f,flush,Flush,FLUSH";
  std::string separator = "comma";
  std::uint32_t header_lines = 0;
  static const ParameterTable<ColumnsConfig>& parameters();
};

}  // namespace tlmssd
