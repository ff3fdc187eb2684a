// Broken command lines: commands, options, names and overrides, and what messages show of files.
#include "testbench/tests/program/broken.h"

namespace tlmssd::program_tests {

TEST_CASE("an empty name is no file, and no way to say none", "[program]") {
  refuse_all({
      {k_small_load, "{trace: ''}", "@:12: load.0.trace: is empty; give it a value, or leave the key out"},
      {k_small_load, "{trace: ' '}", "@:12: load.0.trace: is empty; ..."},
      {k_small_load, "{fio: \"\"}", "@:12: load.0.fio: is empty; ..."},
      {k_small_load, "{profile: ''}", "@:12: load.0.profile: '' is not one of ..."},
      {k_small_load, "{profile: hm_0, scale: 0.0001, traces_folder: ''}",
       "@:12: load.0.traces_folder: is empty; ..."},
      {k_small_part, "''", "@:9: ssd.flash.part is empty; write the path of a YAML file"},
      {k_small_part, "{file: ''}", "@:9: ssd.flash.part.file is empty; write the path of a YAML file"},
  });
  const Folder folder;
  const std::string scenario = folder.write("s.yaml", k_small);
  refuse(folder, scenario, "--set load.0.trace=: load.0.trace: is empty; ...", {"--set", "load.0.trace="});
  for (const std::string option : {"--out", "--save-snapshot", "--from-snapshot"}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{option, ""}, {option + "="}}) {
      std::vector<std::string> arguments = {"run", scenario, "-q"};
      arguments.insert(arguments.end(), words.begin(), words.end());
      const Outcome outcome = run(folder, arguments);
      INFO(option << ": " << outcome.err);
      CHECK(outcome.code == 2);
      CHECK(outcome.err.starts_with("tlmssd: -"));
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
  }
  for (const std::string command : {"run", "check", "trace-info", "profile"}) {
    const Outcome outcome = run(folder, {command, ""});
    INFO(command << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a mistyped command is told which one is meant", "[program]") {
  const Folder folder;
  const Outcome outcome = run(folder, {"runn", "s.yaml"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.starts_with("tlmssd: there is no command 'runn', only run, "));
  CHECK(outcome.err.ends_with("; did you mean 'run'?\n"));
  CHECK(run(folder, {}).code == 2);
  CHECK(run(folder, {"--version"}).code == 0);
}

TEST_CASE("what files bring into messages cannot steer the terminal", "[program]") {
  using namespace std::string_literals;
  const Folder folder;
  folder.write("bad.fio", "[a\0b\x1b]0;x\x07]\nrw=nothing\n"s);
  folder.write("bad\x1b[31m.csv", "1,2\n");
  const std::string line = "128166372003061629,h\0\x1bm,0,Write,4096,4096,100\n"s;
  const std::string trace = folder.write("ok.csv", line + line);
  const auto clean = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    });
  };
  for (const std::string& load :
       {"{fio: bad.fio}"s, "{trace: \"bad\\x1b[31m.csv\"}"s, "{trace: ok.csv, volume: x}"s}) {
    const std::string scenario = folder.write("s.yaml", replaced(k_small, k_small_load, load));
    const Outcome outcome = run(folder, {"run", scenario});
    INFO(load << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(clean(outcome.err));
  }
  const Outcome info = run(folder, {"trace-info", trace});
  CHECK(info.code == 0);
  CHECK(clean(info.out));
  CHECK(clean(run(folder, {"run", folder / "no\x1b[31m.yaml"}).err));
  CHECK(clean(run(folder, {"run", "--no\x1b[31m"}).err));
}

TEST_CASE("overrides that are wrong", "[program]") {
  const Folder folder;
  const std::string good = folder.write("s.yaml", k_small);
  const auto set = [&](const std::string& what, const std::string& expected) {
    refuse(folder, good, "--set " + what + ": " + expected, {"--set", what});
  };
  const std::string form = "write --set path=value, for instance --set ssd.dram.latency='50 ns'";
  set("ssd.flash.channels", form);
  set("=3", form);
  set("ssd.flash.chanels=3", "key 'chanels' is not known in ssd.flash; did you mean 'channels'?");
  set("ssd.flash.channels=many", "ssd.flash.channels: 'many' is not a whole number");
  set("title.a=3", "title is a value, it has no 'a'");
  set("ssd.flash=",
      "ssd.flash has no value; set a key in it, or take the defaults of all of it by ssd.flash={}");
  set("precondition=",
      "precondition has no value; set a key in it, or leave all of it out by precondition=[]");
  set("load.7.rw=read", "load has 1 entry; add one as a whole: load.1={...}");
  set("load.0.bs=1.5k", "load.0.bs: 1536 B is not a multiple of the drive's logical block of 4096 B");
}

TEST_CASE("trace-info takes the words that say how a file is read, and no others", "[program]") {
  const Folder folder;
  const std::string trace = folder.write("t.csv", "0,h,0,Read,0,4096,0\n1000,h,0,Read,4096,0,0\n");
  CHECK(run(folder, {"trace-info", trace, "--set", "zero_size=skip", "--set", "format=msr"}).code == 0);
  for (const std::string set :
       {"requests=5", "skip=7", "volume=9", "trace=x", "queue_depth=2", "warm_up=3", "name=a"}) {
    const Outcome outcome = run(folder, {"trace-info", trace, "--set", "zero_size=skip", "--set", set});
    INFO(set << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "tlmssd: --set " + set + ": '" + set.substr(0, set.find('=')) +
                             "' says nothing of how the file is read; there is columns, format, zero_size, "
                             "max_disorder or action\n");
  }
}

TEST_CASE("no option takes an empty text for what it does without it", "[program]") {
  const Folder folder;
  const std::string good = folder.write("s.yaml", k_small);
  const std::string trace = folder.write("t.csv", "0,h,0,Read,0,4096,0\n1000,h,0,Read,4096,4096,0\n");
  using Words = std::vector<std::string>;
  const std::vector<std::pair<Words, std::string>> lines = {
      {{"run", good, "--out", ""}, "--out: is empty"},
      {{"run", good, "--save-snapshot", ""}, "--save-snapshot: is empty"},
      {{"run", good, "--from-snapshot", ""}, "--from-snapshot: is empty"},
      {{"run", ""}, "scenario: is empty"},
      {{"check", ""}, "scenario: is empty"},
      {{"figures", ""}, "scenario: is empty"},
      {{"resolve", ""}, "scenario: is empty"},
      {{"trace-info", ""}, "file: is empty"},
      {{"trace-info", trace, "--format", ""}, "--format: is empty"},
      {{"list", ""}, "filter: is empty"},
      {{"profile", ""}, "name: is empty"},
      {{"profile", "hm_0", "--seed", ""}, "--seed: '' is no whole number"},
      {{"profile", "hm_0", "--requests", "99999999999999999999"},
       "--requests: 99999999999999999999 is too large, expected 19 digits at most"},
      {{"profile", "hm_0", "--requests", ""}, "--requests: '' is no whole number"},
      {{"profile", "hm_0", "--scale", ""}, "--scale: "},
      {{"--plugin", "", "list"}, "--plugin: is empty"},
      {{"check", good, "--plugin", "no_such.so"}, "plug-in 'no_such.so': "},
      {{"run", "--plugin", "no_such.so", good}, "plug-in 'no_such.so': "},
      {{"check", good, "--plugin=no_such.so"}, "plug-in 'no_such.so': "},
      {{"show", "run"}, "run"},  // a folder, not a second command
      {{"new", "timing-model", "x", "--folder", ""}, "--folder: is empty"},
      {{"conform", "timing", "table", "--part", ""}, "--part: is empty"}};
  for (const auto& [arguments, expected] : lines) {
    const Outcome outcome = run(folder, arguments);
    INFO(expected << " | " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("tlmssd: " + expected));
  }
}

TEST_CASE("projects get no name that CMake or a scenario has another use for", "[program]") {
  const Folder folder;
  for (const std::string name : {"all", "clean", "help", "install", "package", "package-source", "test"}) {
    const Outcome outcome = run(folder, {"new", "timing-model", name});
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "tlmssd: '" + name +
                             "' is the name of a target of CMake's own; take another, such as my-" + name +
                             "\n");
  }
  const std::vector<std::pair<std::string, std::string>> taken = {{"timing-model", "table"},
                                                                  {"reliability-model", "none"},
                                                                  {"scheduling-policy", "in-order"},
                                                                  {"victim-policy", "greedy"},
                                                                  {"wear-policy", "none"},
                                                                  {"cache-policy", "lru"},
                                                                  {"data-path", "cold-bypass"},
                                                                  {"ecc-policy", "fixed"},
                                                                  {"ecc-code", "bch"},
                                                                  {"ecc-code", "none"},
                                                                  {"mapping-scheme", "dftl"},
                                                                  {"feature", "gc"},
                                                                  {"feature", "pass-voltage"},
                                                                  {"trace-format", "blkparse"},
                                                                  {"report-writer", "timeline"},
                                                                  {"memory", "built-in"},
                                                                  {"firmware", "ftl"}};
  for (const auto& [kind, name] : taken) {
    const Outcome outcome = run(folder, {"new", kind, name});
    INFO(kind << ' ' << name << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "tlmssd: there is a " + kind + " '" + name +
                             "' already; take another name, such as my-" + name + "\n");
  }
}

TEST_CASE("a report-writer gets no name whose file is a result of the program", "[program]") {
  const Folder folder;
  const Outcome outcome = run(folder, {"new", "report-writer", "commands"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "tlmssd: commands.csv of results is the program's own; take another name than 'commands', such as "
        "my-commands\n");
  CHECK(run(folder, {"new", "report-writer", "summary", "--folder", folder / "summary"}).code == 0);
}

TEST_CASE("command lines that are wrong", "[program]") {
  const Folder folder;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"fly"}, {"run"}, {"run", "a.yaml", "--fast"}, {"run", "a.yaml", "b.yaml"}, {"trace-info"}}) {
    const Outcome outcome = run(folder, arguments);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
  }
  CHECK(run(folder, {"list", "nothing-of-the-kind"}).code == 2);
  CHECK(run(folder, {"--help"}).code == 0);
  CHECK(run(folder, {"--version"}).out.starts_with("tlmssd "));
}

}  // namespace tlmssd::program_tests
