// The table of functions that firmware in C calls, each bound to its adapter.
#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware/base/decisions.h"
#include "firmware/foreign/c_adapter.h"
#include "models/base/input_error.h"

namespace tlmssd::firmware::foreign {

namespace {

CFirmware& of(const tlmssd_host* host) {
  return *reinterpret_cast<const Handle*>(host)->owner;
}

const char* text_of(const char* text) {
  return text == nullptr ? "" : text;
}

// NOLINTBEGIN(readability-identifier-naming): the names of the struct
constexpr tlmssd_api k_api = {
    .size = sizeof(tlmssd_api),
    .complete = [](tlmssd_host* host, tlmssd_command* command,
                   tlmssd_status status) { of(host).called([&] { of(host).complete(command, status); }); },
    .read =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::read, request, done, self); });
        },
    .program =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::program, request, done, self); });
        },
    .erase =
        [](tlmssd_host* host, const tlmssd_flash* request, tlmssd_flash_done done, void* self) {
          of(host).called([&] { of(host).flash(FlashCommand::erase, request, done, self); });
        },
    .pending = [](const tlmssd_host* host, std::uint32_t die) -> std::uint32_t {
      std::uint32_t pending = 0;
      of(host).called([&] { pending = of(host).pending(die); });
      return pending;
    },
    .take = [](tlmssd_host* host, const tlmssd_command* command, std::uint32_t lpn,
               std::uint32_t buffer) { of(host).called([&] { of(host).take(command, lpn, buffer); }); },
    .deliver = [](tlmssd_host* host, tlmssd_command* command, std::uint32_t lpn,
                  std::uint32_t buffer) { of(host).called([&] { of(host).deliver(command, lpn, buffer); }); },
    .copy = [](tlmssd_host* host, std::uint32_t from, std::uint32_t to, std::uint32_t first,
               std::uint32_t blocks) { of(host).called([&] { of(host).copy(from, to, first, blocks); }); },
    .run = [](tlmssd_host* host, tlmssd_command* command, const tlmssd_work* work, std::size_t count,
              tlmssd_done done,
              void* self) { of(host).called([&] { of(host).run_work(command, work, count, done, self); }); },
    .access =
        [](tlmssd_host* host, tlmssd_command* command, tlmssd_wait wait, tlmssd_memory memory,
           std::uint64_t address, std::uint64_t bytes, int write, tlmssd_done done, void* self) {
          of(host).called([&] {
            of(host).access(command, number_in(wait), number_in(memory), address, bytes, write != 0, done,
                            self);
          });
        },
    .charge = [](tlmssd_host* host, tlmssd_command* command,
                 tlmssd_wait wait) { of(host).called([&] { of(host).charge(command, number_in(wait)); }); },
    .timer = [](tlmssd_host* host, std::uint64_t picoseconds, tlmssd_done done,
                void* self) { of(host).called([&] { of(host).timer(picoseconds, done, self); }); },
    .now = [](const tlmssd_host* host) -> std::uint64_t {
      return static_cast<std::uint64_t>(of(host).hardware().event_queue.now());
    },
    .outstanding = [](const tlmssd_host* host) -> std::uint32_t {
      return of(host).hardware().host.outstanding();
    },
    .drained = [](tlmssd_host* host) { of(host).called([&] { of(host).drained(); }); },
    .fail =
        [](tlmssd_host* host, const char* what) {
          of(host).called(
              [&] { throw InputError(what == nullptr ? "fails, and does not say why (null)" : what); });
        },
    .refuse =
        [](tlmssd_host* host, const char* parameter, const char* what) {
          of(host).called([&] { of(host).refuse(text_of(parameter), text_of(what)); });
        },
    .number = [](const tlmssd_host* host,
                 const char* parameter) { return of(host).number(text_of(parameter)); },
    .text = [](const tlmssd_host* host, const char* parameter) { return of(host).text(text_of(parameter)); },
    .archive =
        [](tlmssd_archive* archive, void* data, std::size_t bytes) {
          archive->owner->called([&] { archive->owner->save_or_restore(*archive, data, bytes); });
        },
    .saving = [](const tlmssd_archive* archive) { return archive->saving ? 1 : 0; },
    .value =
        [](tlmssd_report* report, const char* name, double value, const char* unit, const char* doc) {
          report->owner->called([&] {
            if (name == nullptr) throw InputError("reports a figure, but does not say its name (null)");
            report->sink->value(name, value, text_of(unit), text_of(doc));
          });
        },
    .notes = [](const tlmssd_host* host) { return wanted(of(host).hardware(), DecisionKind::own) ? 1 : 0; },
    .note =
        [](tlmssd_host* host, const char* what, const char* why, std::uint32_t lpn) {
          of(host).called([&] {
            if (what == nullptr) throw InputError("notes a decision, but does not say what (null)");
            const std::span<const Lpn> about(&lpn, lpn == k_no_unit ? 0 : 1);
            note(of(host).hardware(), {.what = what, .why = text_of(why), .lpns = about});
          });
        },
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

const tlmssd_api& adapter_api() {
  return k_api;
}

}  // namespace tlmssd::firmware::foreign
