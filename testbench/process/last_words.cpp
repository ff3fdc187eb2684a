#include "testbench/process/last_words.h"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>
#include <unistd.h>

namespace tlmssd {

namespace {

std::terminate_handler terminate_before = nullptr;

[[noreturn]] void last_words() {
  const std::type_info* const thrown = abi::__cxa_current_exception_type();
  if (thrown != nullptr && *thrown == typeid(std::bad_alloc)) _exit(say_out_of_memory());
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

int say_out_of_memory() noexcept {
  constexpr std::string_view k_words = "tlmssd: out of memory\n";
  static_cast<void>(!write(STDERR_FILENO, k_words.data(), k_words.size()));
  return k_exit_out_of_memory;
}

void install_last_words() {
  terminate_before = std::set_terminate(last_words);
}

}  // namespace tlmssd
