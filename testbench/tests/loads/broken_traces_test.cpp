// Broken traces, each with the one line that it must be refused with.
#include <catch2/catch.hpp>

#include "files.h"

using namespace tlmssd;
using namespace tlmssd::test;

namespace {

struct Broken {
  const char* format;
  std::string text;
  std::string message;
};

TraceFile with_columns() {
  TraceFile file;
  file.columns = ColumnsConfig{};
  return file;
}

const std::string k_good = "1,h,0,Read,0,512,0\n";

std::vector<Broken> broken_traces() {
  return {
      {"auto", "", "t: is empty, expected a trace"},
      {"msr", "", "t: is empty, expected a trace"},
      {"auto", "\n \n\t\n", "t: is empty, expected a trace"},
      {"msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", "t: holds no request"},
      {"auto", "hello world\n",
       "t:1: the format is not recognised from the line \"hello world\"; say format: fio-iolog, blkparse, "
       "perf-script, biosnoop, msr, spc, alibaba, tencent, mqsim, csv"},
      {"auto", std::string("\x01\xFF\x00\x7F", 4) + "\n",
       "t:1: the format is not recognised from the line \"\\x01\\xFF\\x00\\x7F\"; say format: fio-iolog, "
       "blkparse, perf-script, biosnoop, msr, spc, alibaba, tencent, mqsim, csv"},
      {"msr", k_good + std::string("\x01\xFF,x", 4),
       "t:2: field time: \"\\x01\\xFF\" is not a whole number, expected ticks of 100 ns"},
      {"auto", k_good + "2,h,0,Raed,0,512,0\n",
       "t:2: field type: \"Raed\" is no operation, expected Read, Write or Discard"},
      {"auto", k_good + "2,h,0,Read,12x,512,0\n",
       "t:2: field offset: \"12x\" is not a whole number, expected bytes from the start of the disk"},
      {"auto", k_good + "2,h,0,Read,-4096,512,0\n",
       "t:2: field offset: \"-4096\" is negative, expected bytes from the start of the disk"},
      {"auto", k_good + "2,h,0,Read,99999999999999999999,512,0\n",
       "t:2: field offset: \"99999999999999999999\" is too large, expected bytes from the start of the disk"},
      {"auto", k_good + "2,h,0,Read,18446744073709551104,512,0\n",
       "t:2: field offset: 18446744073709551104 + 512 bytes does not fit 63 bits, expected an address on a "
       "drive"},
      {"auto", k_good + "2,h,0,Read,0,0,0\n",
       "t:2: field size: is 0, expected at least one byte (or zero_size: skip)"},
      {"auto", k_good + "2,h,0,Write,0,2147483648,0\n",
       "t:2: field size: 2147483648 bytes is too large, expected at most 1 GiB for a write"},
      {"auto", k_good + "2,h,0,Read,0\n", "t:2: field size: is missing, expected bytes"},
      {"auto", k_good + "2,h,0,Read,,512,0\n",
       "t:2: field offset: is missing, expected bytes from the start of the disk"},
      {"auto", k_good + "2,h,0,Read,0,512,0,9\n",
       "t:2: line has more than 7 fields, expected time,host,disk,type,offset,size,response"},
      {"auto", k_good + "2,h,0,Re",  // cut off in the middle of a line
       "t:2: field type: \"Re\" is no operation, expected Read, Write or Discard"},
      {"auto", "1000000000,h,0,Read,0,512,0\n1,h,0,Read,0,512,0\n",
       "t:2: field time: lies 100 s before the request above, expected times in order (disorder up to "
       "max_disorder, 60 s, is "
       "put right)"},
      {"msr", k_good + std::string(70000, 'x') + "\n",
       "t:2: line is longer than 65536 bytes, expected a text file with one request per line"},
      {"mqsim", "100 0 8 8 1\n200 0 8 8 2\n",
       "t:2: field op: \"2\" is no operation, expected 1 (read) or 0 (write)"},
      {"mqsim", "100 0 36028797018963968 8 1\n",
       "t:1: field LBA: \"36028797018963968\" is too large, expected 512 B sectors"},
      {"mqsim", "100 0 8 8\n", "t:1: field op: is missing, expected 1 (read) or 0 (write)"},
      {"mqsim", "100 zero 8 8 1\n",
       "t:1: field device: \"zero\" is not a whole number, expected a device number"},
      {"spc", "0,1,512,W,1.5\n0,1,512,X,1.6\n", "t:2: field op: \"X\" is no operation, expected R or W"},
      {"spc", "0,1,512,W,1.5s\n", "t:1: field time: \"1.5s\" is not a number, expected seconds"},
      {"spc", "0,1,512,W,-1\n", "t:1: field time: \"-1\" is negative, expected seconds"},
      {"alibaba", "1,r,0,512,7\n", "t:1: field opcode: \"r\" is no operation, expected R or W"},
      {"tencent", "1,0,8,3,7\n", "t:1: field IO type: \"3\" is no operation, expected 0 (read) or 1 (write)"},
      {"fio-iolog", "fio version 1 iolog\n",
       "t:1: line is \"fio version 1 iolog\", expected \"fio version 2 iolog\" or \"fio version 3 iolog\""},
      {"auto", "fio version 3 iolog\n5 f wait 5 0\n",
       "t:2: field action: \"wait\" is not allowed in a version 3 log, expected read, "
       "write, trim, sync, datasync, wait (version 2), add, open or close"},
      {"auto", "fio version 2 iolog\nf read 0\n", "t:2: field length: is missing, expected bytes"},
      {"auto", "fio version 2 iolog\nf add\n", "t: holds no request"},
      {"blkparse", "8,0 0 1 0.0 1 D R 0 - 8 [x]\n",
       "t:1: field +: \"-\" is not a plus sign, expected \"sector + sectors\""},
      {"blkparse", "8,0 0 1 0.0 1 D Z 0 + 8 [x]\n",
       "t:1: field rwbs: \"Z\" is no operation, expected letters out of R, W, D, F, N, S, A, M, B, E, V"},
      {"blkparse", "8 0 1 0.0 1 D R 0 + 8 [x]\n",
       "t:1: field device: \"8\" is no device, expected major,minor"},
      {"csv", "R,0,abc\n", "t:1: field size: \"abc\" is not a whole number, expected a whole number"},
      {"csv", "R\n", "t:1: field offset: is missing, expected a whole number"},
      {"csv", "Q,0,1\n",
       "t:1: field op: \"Q\" is no operation, expected one of R r read Read READ W w write Write WRITE D d T "
       "t "
       "trim Trim TRIM discard Discard DISCARD F f flush Flush FLUSH"},
  };
}

}  // namespace

TEST_CASE("broken traces are refused with one clear line") {
  for (const Broken& broken : broken_traces()) {
    INFO(broken.format << ": " << broken.text.substr(0, 80));
    CHECK(message_of([&] { read_text(broken.text, broken.format, with_columns()); }) == broken.message);
  }
}

TEST_CASE("files that cannot be read") {
  const Folder folder;
  const std::string missing = folder.path() + "/none.csv";
  CHECK(message_of([&] {
          TraceReader({missing, {}, {}, {}});
        }) == missing + ": cannot be read: No such file or directory");
  CHECK(message_of([&] {
          TraceReader({folder.path(), {}, {}, {}});
        }) == folder.path() + ": is a folder, expected a file");
}

TEST_CASE("unknown formats and contradictory column maps") {
  CHECK(message_of([] { read_text("x", "MSR"); }) ==
        "trace format \"MSR\" is unknown, expected one of auto, fio-iolog, blkparse, perf-script, "
        "biosnoop, msr, spc, alibaba, tencent, mqsim, csv");
  CHECK(message_of([] { read_text("x", "csv"); }) ==
        "trace format csv needs the section columns (op, offset, size, ...)");
  TraceFile file = with_columns();
  file.columns->size = 2;
  CHECK(message_of([&] { read_text("x", "csv", file); }) ==
        "columns.size: column 2 has been given another meaning");
  file = with_columns();
  file.columns->write = "R";
  CHECK(message_of([&] { read_text("x", "csv", file); }) ==
        "columns: the operation word \"R\" stands for two operations");
}

TEST_CASE("zero_size: skip passes over requests without size") {
  TraceFile file;
  file.config.zero_size = "skip";
  CHECK(read_text(k_good + "2,h,0,Read,0,0,0\n" + k_good, "msr", file).size() == 2);
}
