// Things under construction: names of their own, removed with their owner, swept only when their
// owner is dead.
#include "testbench/process/staging.h"

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/// From now on this process cannot read a folder that it has opened: the system answers `error`.
/// False where it does not let processes filter their calls.
bool forbid_reading_folders(unsigned error) {
  std::array<sock_filter, 4> program{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},  // the call's number
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getdents64},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

/// What names_in() says of a folder that the system does not let be read.
enum Answer : int { k_no_filter, k_refused, k_no_memory, k_names };
int answer_with(unsigned error, const fs::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_reading_folders(error)) _exit(k_no_filter);
    try {
      std::error_code said;
      const bool none = names_in(folder, said).empty();
      _exit(none && said.value() == static_cast<int>(error) ? k_refused : k_names);
    } catch (const std::bad_alloc&) {
      _exit(k_no_memory);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a folder that can be opened and not be read is not empty") {
  const Scratch scratch;
  std::ofstream(scratch.path() / "users.txt") << "mine";
  const int refused = answer_with(EIO, scratch.path());
  if (refused == k_no_filter) {
    WARN("this system does not let processes filter their calls");
    return;
  }
  CHECK(refused == k_refused);
  CHECK(answer_with(ENOMEM, scratch.path()) == k_no_memory);
}

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
