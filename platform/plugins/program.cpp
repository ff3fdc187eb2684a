// The program tlmssd: everything is in the library.
#include "platform/plugins/main.h"

int main(int argc, char* argv[]) {
  return tlmssd::main(argc, argv);
}
