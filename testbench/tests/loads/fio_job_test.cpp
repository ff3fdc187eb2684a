// Job files of fio: what is read of them, what it becomes, what is refused.
#include "testbench/loads/fio/fio_job.h"

#include <catch2/catch.hpp>
#include <set>

#include "drain.h"
#include "drive_size.h"
#include "files.h"
#include "testbench/loads/load.h"

using namespace tlmssd;
using namespace tlmssd::test;
using namespace tlmssd::literals;

namespace {

std::string fio_refused(const std::string& text) {
  return message_of([&] { parse_fio_jobs("j.fio", text); });
}

}  // namespace

TEST_CASE("options of fio that cannot matter are noted, and sync forces unit access") {
  const auto jobs =
      parse_fio_jobs("j.fio",
                     "[global]\nnrfiles=1\nfilesize=2g\nstatus-interval=1\nmax_latency=1s\nthinktime_spin=5\n"
                     "iodepth_batch=1\n[a]\nrw=write\nsize=1g\nsync=1\n");
  CHECK(jobs.jobs.front().generator.force_unit_access);
  CHECK(jobs.warnings.size() == 5);
  CHECK_THAT(jobs.warnings[2],
             Catch::EndsWith("max_latency has no effect here: no job ends because a request was slow"));
  CHECK(fio_refused("[a]\nrw=read\nnrfiles=4\n") ==
        "j.fio:3: option nrfiles: \"4\" is not supported, expected 1, or the job without it");
  CHECK_THAT(fio_refused("[a]\nrw=read\nexitall\n"), Catch::Contains("exitall"));
  CHECK_THAT(fio_refused("[a]\nrw=read\nfilesize=1g\n"), Catch::StartsWith("j.fio:3: filesize: "));
  CHECK_THAT(fio_refused("[a]\nrw=read\nsize=2g\nfilesize=1g\n"), Catch::StartsWith("j.fio:4: filesize: "));
  CHECK_THAT(fio_refused("[a]\nrw=write\nsync=2\n"), Catch::Contains("expected none, sync or dsync"));
  const Folder folder;
  LoadConfig config;
  config.kind.fio = folder.write("j.fio", "[a]\nrw=rw\nsize=64k\nsync=dsync\n");
  for (const PlacedRequest& request : drain(make_loads(config, k_drive, 1).front()))
    CHECK(request.force_unit_access == (request.opcode == HostOpcode::write));
  config.kind.fio = folder.write("z.fio", "[a]\nrw=randread\nrandom_distribution=zoned_abs:50/1g\n");
  const std::string refused = message_of([&] { make_loads(config, k_drive, 1); });
  CHECK_THAT(refused, Catch::Contains("normal:deviation or zoned:...") && !Catch::Contains("lives"));
}

TEST_CASE("a fio job file: global section, phases, units, comments, what has no effect") {
  const Folder folder;
  const std::string file =
      folder.write("jobs.fio",
                   "; two jobs\n"
                   "[global]\nioengine=libaio\ndirect=1\nbs=8k   # everywhere\nsize=1m\n\n"
                   "[fill]\nrw=write\niodepth=16\n"
                   "[mixed]\nstonewall\nrw=randrw\nrwmixread=70\nnumjobs=2\nruntime=10\ntime_based\n"
                   "startdelay=500ms\nthinktime=20\nbssplit=4k/50:8k/50\nrandom_distribution=zipf:1.1\n");
  LoadConfig config;
  config.kind.fio = file;
  auto loads = make_loads(config, k_drive, 1);
  REQUIRE(loads.size() == 3);
  CHECK(loads[0].name == "fill");
  CHECK(loads[0].queue_depth == 16);
  CHECK(loads[0].phase == 0);
  CHECK(loads[2].name == "mixed.1");
  CHECK(loads[2].phase == 1);
  CHECK(loads[2].runtime == 10_s);
  CHECK(loads[2].start == 500_ms);
  CHECK(loads[2].think_time == 20_us);
  CHECK(loads[0].warnings == std::vector<std::string>{"jobs.fio:4: option direct has no effect here"});
  const auto fill = drain(loads[0]);
  REQUIRE(fill.size() == 128);
  CHECK(fill[1].lba == 16);
  config.fio.job = "mixed";
  CHECK(make_loads(config, k_drive, 1).size() == 2);
  config.fio.job = "mixd";
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        "job: there is none called 'mixd' in " + file + ", expected fill or mixed; did you mean 'mixed'?");
}

TEST_CASE(
    "times of a job file are seconds without a unit, of thinking microseconds, and jobs keep to their own") {
  const FioJobFile file =
      parse_fio_jobs("j.fio",
                     "[a]\nrw=read\nbs=64k\niodepth=8\nstartdelay=2\nramp_time=3\nruntime=4\nthinktime=5\n"
                     "[b]\nrw=write\nkb_base=1000\nstartdelay=2m\nramp_time=3ms\n");
  REQUIRE(file.jobs.size() == 2);
  const FioJob& a = file.jobs[0];
  CHECK(a.run.startdelay == 2_s);
  CHECK(a.run.ramp_time == 3_s);
  CHECK(a.run.runtime == 4_s);
  CHECK(a.generator.thinktime == 5_us);
  const FioJob& b = file.jobs[1];
  CHECK(b.run.startdelay == 120_s);
  CHECK(b.run.ramp_time == 3_ms);
  CHECK(b.run.runtime == 0);
  CHECK(b.generator.rw == "write");
  CHECK(b.generator.bs == GeneratorConfig{}.bs);
  CHECK(b.generator.iodepth == GeneratorConfig{}.iodepth);
}

TEST_CASE("a synchronous ioengine keeps one request outstanding, as in fio") {
  const Folder folder;
  LoadConfig config;
  const auto read = [&](const std::string& text) {
    config.kind.fio = folder.write("jobs.fio", text);
    return make_loads(config, k_drive, 1);
  };
  const auto unasked = read("[a]\nrw=read\nsize=1m\niodepth=32\n[b]\nrw=read\nsize=1m\niodepth=8\n");
  CHECK(unasked[0].queue_depth == 1);
  CHECK(unasked[1].queue_depth == 1);
  CHECK(unasked[0].warnings ==
        std::vector<std::string>{
            "jobs.fio:4: iodepth 32 of job a (and of 1 more) counts as 1, as in fio: ioengine "
            "psync, the default, is synchronous; libaio or io_uring keeps more "
            "outstanding"});
  CHECK(unasked[1].warnings.empty());
  const auto mixed = read(
      "[global]\nioengine=io_uring\nrw=read\nsize=1m\niodepth=4\n[a]\n[b]\nioengine=pvsync2\n[c]\nioengine="
      "sync\n"
      "iodepth=1\n");
  CHECK(mixed[0].queue_depth == 4);
  CHECK(mixed[1].queue_depth == 1);
  CHECK(mixed[2].queue_depth == 1);
  CHECK(mixed[0].warnings ==
        std::vector<std::string>{"jobs.fio:5: iodepth 4 of job b counts as 1, as in fio: ioengine pvsync2 is "
                                 "synchronous; libaio or io_uring keeps more outstanding"});
  config.fio.job = "a";
  CHECK(make_loads(config, k_drive, 1)[0].warnings.empty());
}

TEST_CASE("jobs of one name in a job file are told apart and ask for addresses of their own") {
  const Folder folder;
  LoadConfig config;
  config.kind.fio = folder.write("jobs.fio",
                                 "[global]\nrw=randwrite\nsize=1m\nnumber_ios=100\n[a]\n[a]\n[b]\n"
                                 "numjobs=2\n[b.1]\n");
  auto loads = make_loads(config, k_drive, 1);
  std::vector<std::string> names;
  std::set<std::vector<std::uint64_t>> orders;
  for (Load& load : loads) {
    names.push_back(load.name);
    std::vector<std::uint64_t> order;
    for (const PlacedRequest& request : drain(load)) order.push_back(request.lba);
    orders.insert(order);
  }
  CHECK(names == std::vector<std::string>{"a", "a 2", "b.0", "b.1", "b.1 2"});
  CHECK(orders.size() == loads.size());
}

TEST_CASE("a fio job that reads and writes nothing, and an engine that fio does not have, are refused") {
  const Folder folder;
  LoadConfig config;
  const auto refused = [&](const std::string& text) {
    config.kind.fio = folder.write("jobs.fio", text);
    const std::string message = message_of([&] { make_loads(config, k_drive, 1); });
    return message.empty() ? message : message.substr(folder.path().size() + 1);
  };
  const std::string job = "rw=read\nsize=1m\n";
  CHECK(refused("[a]\nioengine=libaoi\n" + job) ==
        "jobs.fio:2: option ioengine: \"libaoi\" is not understood, expected an engine of fio 3.33 that "
        "reads and writes (libaio, io_uring, psync, ...); did you mean 'libaio'?");
  // Of all jobs once.
  CHECK(refused("[global]\nioengine=null\n" + job + "[a]\n[b]\n") ==
        "jobs.fio:2: job a: ioengine: null moves no data, expected one that reads and writes (libaio, "
        "io_uring, psync, ...)");
  for (const std::string engine : {"cpuio", "exec", "filecreate", "filestat", "filedelete", "falloc",
                                   "ftruncate", "e4defrag", "net", "netsplice", "rdma"}) {
    INFO(engine);
    CHECK(refused("[a]\nioengine=" + engine + "\n" + job).find("jobs.fio:2: job a: ioengine: ") == 0);
  }
  for (const std::string engine :
       {"sync", "io_uring", "io_uring_cmd", "libaio", "linuxaio", "posixaio", "mmap", "sg", "nbd", "rbd",
        "xnvme", "libpmem", "dev-dax", "gfapi_async"}) {
    INFO(engine);
    CHECK(refused("[a]\nioengine=" + engine + "\n" + job).empty());
  }
  const std::string laid_out = "[global]\n" + job + "[files]\ncreate_only=1\n[a]\ncreate_only=0\n";
  CHECK(refused(laid_out) ==
        "jobs.fio:5: job files: create_only: fio lays out files and runs nothing, expected 0, or another job "
        "(job: NAME)");
  config.fio.job = "a";
  CHECK(refused(laid_out).empty());
}

TEST_CASE("a fio job ends with a flush by either of two options") {
  const auto flushes = [](const std::string& options) {
    return parse_fio_jobs("j.fio", options).jobs.front().generator.end_fsync;
  };
  CHECK_FALSE(flushes("[a]\nrw=write\n"));
  CHECK(flushes("[a]\nrw=write\nend_fsync=1\n"));
  CHECK(flushes("[a]\nrw=write\nfsync_on_close\n"));
  CHECK(flushes("[global]\nend_fsync=1\n[a]\nfsync_on_close=0\n"));
  CHECK_FALSE(flushes("[global]\nend_fsync=1\n[a]\nend_fsync=0\n"));
  CHECK(fio_refused("[a]\nend_fsync=yes\n") ==
        "j.fio:2: option end_fsync: \"yes\" is not understood, expected 0, 1 or the option alone");
}

TEST_CASE("a job file's fsync and fdatasync do not undo each other, and its loops are fio's") {
  const Folder folder;
  const auto requests = [&](const std::string& options) {
    LoadConfig config;
    config.kind.fio = folder.write("j.fio", "[a]\nsize=1m\nbs=4k\n" + options);
    std::vector<Load> loads = make_loads(config, k_drive, 1);
    CHECK(loads.front().wanted == 0);
    return drain(loads.front()).size();
  };
  CHECK(requests("rw=write\nfsync=7\nfdatasync=3\n") == 256 + 36 + 73);
  CHECK(requests("rw=write\nfdatasync=3\nfsync=7\n") == 256 + 36 + 73);
  CHECK(requests("rw=write\nfsync=7\nfdatasync=0\n") == 256 + 36);
  CHECK(requests("rw=write\nio_size=2m\nloops=2\n") == 512);
  CHECK(requests("rw=randtrimwrite\nio_size=64k\n") == 32);
  LoadConfig config;
  config.kind.fio = folder.write("n.fio", "[a]\nsize=1m\nbs=4k\nrw=trimwrite\nnumber_ios=100\nloops=2\n");
  CHECK(make_loads(config, k_drive, 1).front().wanted == 400);
}

TEST_CASE("a time_based job goes on until its runtime whatever number_ios says, as in fio") {
  const auto jobs = parse_fio_jobs("j.fio",
                                   "[global]\nnumber_ios=5\nrw=randread\nsize=1m\nruntime=2\n"
                                   "[timed]\ntime_based\n[counted]\n");
  REQUIRE(jobs.jobs.size() == 2);
  CHECK(jobs.jobs[0].generator.number_ios == 0);
  CHECK(jobs.jobs[1].generator.number_ios == 5);
  CHECK(jobs.warnings ==
        std::vector<std::string>{"j.fio:2: option number_ios has no effect here: the job is time_based"});
}

TEST_CASE("whole numbers of a job file have fio's suffixes") {
  const auto job = [](const std::string& options) {
    return parse_fio_jobs("j.fio", "[a]\nrw=read\n" + options).jobs.front();
  };
  const FioJob binary = job("iodepth=1k\nnumber_ios=2ki\nfsync=1kib\nrandseed=1m\nthinktime_blocks=0x10\n");
  CHECK(binary.generator.iodepth == 1024);
  CHECK(binary.generator.number_ios == 2048);
  CHECK(binary.generator.fsync == 1000);
  CHECK(binary.generator.randseed == 1U << 20U);
  CHECK(binary.generator.thinktime_blocks == 16);
  // kb_base holds for all of its section, wherever it stands there.
  for (const char* options :
       {"kb_base=1000\niodepth=1k\nfsync=1kib\n", "iodepth=1k\nfsync=1kib\nkb_base=1000\n"}) {
    CHECK(job(options).generator.iodepth == 1000);
    CHECK(job(options).generator.fsync == 1024);
  }
  CHECK(job("rwmixwrite=30\nrwmixread=60\nkb_base=1000\n").generator.rwmixwrite == -1);
  CHECK(fio_refused("[a]\niodepth=1k\nnumjobs=1ms\n") ==
        "j.fio:3: option numjobs: \"1ms\" is not understood, expected a whole number from 1 to 1024");
  CHECK(fio_refused("[a]\niodepth=64kib\nrw=read\nnumjobs=2k\n") ==
        "j.fio:4: option numjobs: \"2k\" is not understood, expected a whole number from 1 to 1024");
}

TEST_CASE("a fio job file may begin with a byte order mark, and holds no control characters") {
  CHECK(parse_fio_jobs("j.fio", "\xEF\xBB\xBF[a]\r\nrw=randread\r\n").jobs.front().generator.rw ==
        "randread");
  CHECK(fio_refused(std::string("[a]\nrw=read\n[b\0]\n", 17)) ==
        "j.fio:3: is not a text file (control character '\\x00')");
}

TEST_CASE("fio job files that are refused, with their line") {
  CHECK(fio_refused("[a]\nrw=read\nblocksiz=4k\n") ==
        "j.fio:3: option \"blocksiz\" is not supported; did you mean 'blocksize'?");
  CHECK_THAT(fio_refused("[a]\nverify=crc32c\n"),
             Catch::StartsWith("j.fio:2: option \"verify\" is not supported"));
  for (const char* option : {"size", "io_size", "rate", "bsrange", "bssplit", "rw", "startdelay"}) {
    const std::string said = std::string("j.fio:2: option ") + option + " has no value";
    CHECK(fio_refused(std::string("[a]\n") + option + "=\n") == said);
    CHECK(fio_refused(std::string("[a]\n") + option + "\n") == said);
  }
  CHECK(fio_refused("[a]\nrw=read\nstonewall=\n") == "j.fio:3: option stonewall has no value");
  CHECK(parse_fio_jobs("j.fio", "[a]\nrw=read\nstonewall\n").jobs.front().stonewall);
  CHECK(fio_refused("rw=read\n[a]\n") ==
        "j.fio:1: option \"rw\" comes before any section, expected [global] or [name]");
  CHECK(fio_refused("[a\n") == "j.fio:1: section \"[a\" is not closed, expected [name]");
  CHECK(fio_refused("[global]\nrw=read\n") ==
        "j.fio: holds no job, expected a section [name] beside [global]");
  CHECK(fio_refused("") == "j.fio: holds no job, expected a section [name] beside [global]");
  CHECK(fio_refused("[a]\niodepth=0\n") ==
        "j.fio:2: option iodepth: \"0\" is not understood, expected a whole number from 1 to 65536");
  CHECK(fio_refused("[a]\nruntime=1x\n") ==
        "j.fio:2: option runtime: \"1x\" is not understood, expected a time (30, 30s, 500ms)");
  CHECK(fio_refused("[a]\nsize=${SIZE}\n") ==
        "j.fio:2: option size: variables are not supported, expected a value");
  CHECK(fio_refused("[a]\n\ntime_based\n") == "j.fio:3: time_based: needs runtime as well");
  CHECK(fio_refused("[a]\n\xFE\xFF=\xFF\n") == "j.fio:2: option \"\\xFE\\xFF\" is not supported");
  const Folder folder;
  LoadConfig config;
  config.kind.fio = folder.write("j.fio", "[a]\nrw=randread\nbs=1000\n");
  CHECK(message_of([&] { make_loads(config, k_drive, 1); }) ==
        config.kind.fio +
            ":3: job a: bs: 1000 B is not a multiple of the drive's logical block of 512 B; "
            "nearest valid: 1024");
}
