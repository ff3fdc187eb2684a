// BrokenTrace traces, one after another through the program: exit code 2, one line that names file,
// line and field, nothing left behind.
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/tests/program/program.h"

namespace tlmssd::program_tests {
namespace {

struct BrokenTrace {
  const char* more;      ///< further words of the load
  std::string text;      ///< of the trace
  const char* expected;  ///< the complaint, after "tlmssd: "; @ stands for the trace's path, $ the scenario's
};

const std::string k_good =
    "128166372003061629,hm,0,Write,4096,4096,100\n128166372003061630,hm,0,Read,8192,4096,100\n";

/// The line that follows two good ones.
std::string third(const std::string& line) {
  return k_good + line + "\n";
}

std::vector<BrokenTrace> broken_traces() {
  return {
      {"", "", "@: is empty, expected a trace"},
      {"", "\n \n\t\n", "@: is empty, expected a trace"},
      {", format: msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
       "@: holds no request"},
      {"", "hello world\n",
       "@:1: the format is not recognised from the line \"hello world\"; say format: ..."},
      {"", std::string("\x01\xFF\x00\x7F", 4), "@:1: the format is not recognised from the line ..."},
      {"", third("128166372003061631,hm,0,Raed,0,4096,0"),
       "@:3: field type: \"Raed\" is no operation, expected Read, Write or Discard"},
      {"", third("128166372003061631,hm,0,Read,12x,4096,0"), "@:3: field offset: \"12x\" is not a ..."},
      {"", third("128166372003061631,hm,0,Read,-4096,4096,0"), "@:3: field offset: \"-4096\" is negative..."},
      {"", third("128166372003061631,hm,0,Read,99999999999999999999,4096,0"), "@:3: field offset: ..."},
      {"", third("128166372003061631,hm,0,Read,18446744073709551104,4096,0"), "@:3: field ..."},
      {"", third("128166372003061631,hm,0,Read,0,0,0"), "@:3: field size: ..."},
      {"", third("128166372003061631,hm,0,Write,0,2147483648,0"), "@:3: field size: ..."},
      {"", third("128166372003061631,hm,0,Read,0"), "@:3: field size: is missing, expected bytes"},
      {"", third("128166372003061631,hm,0,Read,,4096,0"), "@:3: field offset: ..."},
      {"", third("128166372003061631,hm,0,Read,0,4096,0,9"), "@:3: ..."},
      {"", k_good + "128166372003061631,hm,0,Re", "@:3: ..."},
      {", pacing: open-loop", third("1,hm,0,Read,0,4096,0"),
       "@:3: field time: lies 1.28166e+10 s before the request above..."},
      {", format: msr", k_good + std::string(70000, 'x') + "\n", "@:3: ..."},
      {", format: mqsim", "100 0 8 8 1\n200 0 8 8 2\n", "@:2: field op: ..."},
      {", format: spc", "0,1,512,W,1.5\n0,1,512,X,1.6\n",
       "@:2: field op: \"X\" is no operation, expected R or W"},
      {", format: alibaba", "1,r,0,512,7\n", "@:1: field opcode: \"r\" is no operation, expected R or W"},
      {"", "fio version 3 iolog\n5 f wait 5 0\n", "@:2: ..."},
      {", format: blkparse", "8 0 1 0.0 1 D R 0 + 8 [x]\n", "@:1: ..."},
      {", format: msr", third("128166372003061631,hm,0,Read,1099511627776,4096,0"),
       "@:3: field offset: the request of 4096 B at 1099511627776 B ends beyond ..."},
      {", volume: nix", k_good, "$:12: load.0.volume: 'nix' has no request in @, expected all, hm.0"},
      {", skip: 100", k_good, "$:12: load.0.skip: 100 leaves none of the 2 requests of @; nearest valid: 1"},
      {", pacing: open-loop", "fio version 2 iolog\n/d read 0 4096\n",
       "$:12: load.0.pacing: open-loop needs time stamps, which @ does not have; nearest valid: closed-loop"},
      {", pacing: open-loop, format: mqsim", k_good, "@:1: field ..."},
      {"", "\x1f\x8b\x08 this is no gzip", "@: ..."},
      {"",
       std::string("\xfd"
                   "7zXZ\0 this is no xz",
                   20),
       "@: ..."},
      {"", "\x28\xb5\x2f\xfd this is no zstd", "@: ..."},
  };
}

}  // namespace

TEST_CASE("broken traces", "[program]") {
  const Folder folder;
  const std::string trace = folder / "trace";
  for (const BrokenTrace& broken : broken_traces()) {
    folder.write("trace", broken.text);
    const std::string load = "{trace: trace" + std::string(broken.more) + "}";
    const std::string scenario =
        folder.write("s.yaml", replaced(k_small, "{rw: randrw, number_ios: 500}", load));
    const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "results"});
    std::string expected =
        "tlmssd: " + replaced_all(replaced_all(broken.expected, "@", trace), "$", scenario);
    const bool beginning = expected.ends_with("...");
    if (beginning) expected.resize(expected.size() - 3);
    INFO("load: " << load << "\nexpected: " << expected << "\nprinted:  " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK((beginning ? outcome.err.starts_with(expected) : outcome.err == expected + "\n"));
    const auto left = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
    CHECK(left == 2);
  }
}

TEST_CASE("broken traces and trace-info", "[program]") {
  const Folder folder;
  const std::string trace = folder.write("trace", third("128166372003061631,hm,0,Raed,0,4096,0"));
  const Outcome outcome = run(folder, {"trace-info", trace});
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "tlmssd: " + trace + ":3: field type: \"Raed\" is no operation, expected Read, Write or Discard\n");
  const Outcome missing = run(folder, {"trace-info", folder / "nix"});
  CHECK(missing.code == 2);
  CHECK(missing.err == "tlmssd: " + (folder / "nix") + ": cannot be read: No such file or directory\n");
  const Outcome nowhere = run(folder, {"trace-info", "nowhere.csv"});
  CHECK(nowhere.code == 2);
  CHECK_THAT(nowhere.err, Catch::Contains("there is no file nowhere.csv; TLMSSD_TRACES may name a folder"));
  REQUIRE(setenv("TLMSSD_TRACES", folder.path().c_str(), 1) == 0);
  const Outcome found = run(folder, {"trace-info", fs::path(trace).filename().string()});
  unsetenv("TLMSSD_TRACES");
  CHECK(found.err == outcome.err);
}

TEST_CASE("a trace that is not there, a fio file that is wrong", "[program]") {
  const Folder folder;
  folder.write("bad.fio", "[job]\nrw=randread\nbs=4q\n");
  folder.write("ok.fio", "[job]\nrw=randread\nbs=4k\nnumber_ios=10\n");
  const auto complaint = [&](const std::string& load) {
    const std::string scenario =
        folder.write("s.yaml", replaced(k_small, "{rw: randrw, number_ios: 500}", load));
    const Outcome outcome = run(folder, {"run", scenario, "-o", folder / "results"});
    CHECK(outcome.code == 2);
    CHECK_FALSE(fs::exists(folder / "results"));
    return outcome.err;
  };
  const std::string here = "tlmssd: " + folder.path().string();
  CHECK(complaint("{trace: nothere.csv}").starts_with(here + "/s.yaml:12: load.0"));
  CHECK(complaint("{fio: nothere.fio}").starts_with(here + "/s.yaml:12: load.0"));
  CHECK(complaint("{trace: .}").find("is a folder, expected a file\n") != std::string::npos);
  CHECK(complaint("{fio: bad.fio}") ==
        here + "/bad.fio:3: job job: bs: \"4q\" is not understood, expected a size (4k, 128k, 1m)\n");
  CHECK(complaint("{fio: ok.fio, job: nix}") == here +
                                                    "/s.yaml:12: load.0.job: there is none called 'nix' in " +
                                                    (folder / "ok.fio") + ", expected job\n");
}

TEST_CASE("every mistake of a job file is told, and of every load", "[program]") {
  const Folder folder;
  const std::string at = "tlmssd: " + folder.path().string();
  const auto complaints = [&](const std::string& load) {
    return run(folder, {"check", folder.write("s.yaml", replaced(k_small, k_small_load, load))}).err;
  };
  folder.write("read.fio", "[global]\niodeph=3\n[a]\niodepth=zero\nbs=4k\n[b]\nnumjobs=many\n");
  const std::string read = complaints("{fio: read.fio}");
  INFO(read);
  CHECK(std::count(read.begin(), read.end(), '\n') == 3);
  for (const char* place :
       {"/read.fio:2: option", "/read.fio:4: option iodepth", "/read.fio:7: option numjobs"})
    CHECK(read.find(at + place) != std::string::npos);
  folder.write("made.fio", "[a]\nbs=3000\n[b]\nrw=write\n[c]\noffset=99t\n");
  CHECK(complaints("[{fio: made.fio}, {bs: 3000}]") ==
        at +
            "/s.yaml:12: load.1.bs: 3000 B is not a multiple of the drive's logical block of 4096 B; nearest "
            "valid: 4096\n" +
            at +
            "/made.fio:2: job a: bs: 3000 B is not a multiple of the drive's logical block of 4096 B; "
            "nearest valid: 4096\n" +
            at + "/made.fio:6: job c: offset: job 0 begins beyond the drive's 2994176 B\n");
}

}  // namespace tlmssd::program_tests
