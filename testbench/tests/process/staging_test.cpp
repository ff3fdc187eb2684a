// Things under construction: names of their own, removed with their owner, swept only when their owner is dead.
#include "testbench/process/staging.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tlmssd {
namespace {

namespace fs = std::filesystem;

class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "tlmssd_staging_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_;
};

/// Leaves behind what a killed process leaves.
void die_at_work(const fs::path& folder, Staging::Kind kind) {
  const pid_t child = fork();
  if (child == 0) {
    const Staging staging(folder, kind);
    if (kind == Staging::Kind::folder) std::ofstream(staging.path() / "report.json") << "half";
    _exit(0);  // no destructor
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("things under construction have names of their own and go with their owner") {
  const Scratch scratch;
  {
    const Staging file(scratch.path(), Staging::Kind::file);
    const Staging folder(scratch.path(), Staging::Kind::folder);
    const Staging another(scratch.path(), Staging::Kind::file);
    CHECK(scratch.count() == 3);
    CHECK(fs::is_regular_file(file.path()));
    CHECK(fs::is_directory(folder.path()));
    CHECK(Staging::is_name(another.path().filename().string()));
    std::ofstream(folder.path() / "report.json") << "half";
  }
  CHECK(scratch.count() == 0);
  {
    Staging file(scratch.path(), Staging::Kind::file);
    fs::rename(file.path(), scratch.path() / "whole");
    file.moved();
  }
  CHECK(fs::exists(scratch.path() / "whole"));
  CHECK_THROWS_AS(Staging(scratch.path() / "none", Staging::Kind::file), fs::filesystem_error);
}

TEST_CASE("what the dead have left is swept, what the living work on is not") {
  const Scratch scratch;
  const Staging alive(scratch.path(), Staging::Kind::folder);
  die_at_work(scratch.path(), Staging::Kind::folder);
  die_at_work(scratch.path(), Staging::Kind::file);  // has swept the folder of the first
  CHECK(scratch.count() == 2);
  Staging::sweep(scratch.path());
  CHECK(scratch.count() == 1);
  CHECK(fs::exists(alive.path()));
}

TEST_CASE("only names of our own and of this host are swept") {
  const Scratch scratch;
  for (const char* name :
       {".tlmssd-run", ".tlmssd-00000000-1-0.partial", "drive.snap.partial", ".out.partial-1"})
    std::ofstream(scratch.path() / name) << "kept";
  die_at_work(scratch.path(), Staging::Kind::file);
  CHECK(scratch.count() == 5);
  Staging::sweep(scratch.path());
  CHECK(scratch.count() == 4);
}

}  // namespace tlmssd
