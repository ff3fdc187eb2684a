# cmake -DOUTPUT=... -DHEADER=... -DFILES="a;b" -P embed.cmake: a C++ source in which asset(name) gives the content of each file.
#
# Raw string literals, which compilers read at once however long they are.
set(text "#include \"${HEADER}\"\n\nnamespace tlmssd {\n\nstd::string_view asset(std::string_view name) {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  string(FIND "${content}" ")tlmssd\"" ends)
  if(NOT ends EQUAL -1)
    message(FATAL_ERROR "${file} holds what ends a raw string here")
  endif()
  string(APPEND text "  if (name == \"${name}\") return R\"tlmssd(")
  string(APPEND text "${content}")
  string(APPEND text ")tlmssd\";\n")
endforeach()
string(APPEND text "  return {};\n}\n\n}  // namespace tlmssd\n")
file(WRITE ${OUTPUT} "${text}")
