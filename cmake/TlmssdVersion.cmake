# The version, from one place: the commits of a checkout, else the VERSION of project().
#
#   tlmssd_version(<variable> <source>)         sets the variable
#   cmake -DTEMPLATE=... -DOUTPUT=... -P ...     writes a file that names it as @TLMSSD_VERSION@
#   cmake -P cmake/TlmssdVersion.cmake           prints it
#
# 0.1.0 at the tag v0.1.0; 0.1.0+12.g0019e99 when twelve commits since then (without a tag: of all) have changed what the
# program is built of, g0019e99 last; .dirty follows when its sources are those of no commit. Commits that change only
# documents or scripts leave the version alone, and with it the program and what the store of runs knows of it.
# Python and Debian read such versions, too.
set(tlmssd_program_sources CMakeLists.txt cmake models firmware platform testbench scripts/tlmssd/pictures/assets)
set(tlmssd_not_in_the_program testbench/tests testbench/bench testbench/fuzz platform/plugins/templates)

function(tlmssd_git source result)
  execute_process(COMMAND git -C ${source} --no-optional-locks ${ARGN} OUTPUT_VARIABLE text ERROR_QUIET
    RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(text NOTFOUND)
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(tlmssd_version variable source)
  file(STRINGS ${source}/CMakeLists.txt line REGEX "^project\\(tlmssd VERSION " LIMIT_COUNT 1)
  string(REGEX REPLACE "^project\\(tlmssd VERSION ([0-9.]+).*" "\\1" version "${line}")
  # A checkout of its own, and not sources within that of another project.
  tlmssd_git(${source} inside rev-parse --show-prefix)
  list(TRANSFORM tlmssd_not_in_the_program PREPEND ":(exclude)" OUTPUT_VARIABLE others)
  set(paths -- ${tlmssd_program_sources} ${others})
  tlmssd_git(${source} commit rev-list -1 --abbrev-commit HEAD ${paths})
  if(inside STREQUAL "" AND commit)
    tlmssd_git(${source} tag describe --tags --abbrev=0 --match "v[0-9]*")
    set(range HEAD)
    if(tag MATCHES "^v([0-9.]+)$")
      set(version ${CMAKE_MATCH_1})
      set(range ${tag}..HEAD)
    endif()
    tlmssd_git(${source} commits rev-list --count ${range} ${paths})
    tlmssd_git(${source} changed status --porcelain ${paths})
    set(local)
    if(commits GREATER 0)
      set(local "${commits}.g${commit}")
    endif()
    if(changed)
      list(APPEND local dirty)
    endif()
    if(local)
      list(JOIN local "." local)
      string(APPEND version "+${local}")
    endif()
  endif()
  set(${variable} ${version} PARENT_SCOPE)
endfunction()

# What the version depends on, as far as a build can see it: the commit, the tags, the program's sources.
function(tlmssd_version_depends variable source)
  set(files)
  foreach(name HEAD logs/HEAD packed-refs refs/tags)
    tlmssd_git(${source} path rev-parse --path-format=absolute --git-path ${name})
    if(path AND EXISTS ${path})
      list(APPEND files ${path})
    endif()
  endforeach()
  set(patterns ${tlmssd_program_sources})
  list(TRANSFORM patterns PREPEND ${source}/)
  list(TRANSFORM patterns APPEND /* REGEX "/[^.]*$")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  list(TRANSFORM tlmssd_not_in_the_program PREPEND "^${source}/" OUTPUT_VARIABLE others)
  foreach(other IN LISTS others)
    list(FILTER sources EXCLUDE REGEX "${other}/")
  endforeach()
  set(${variable} ${files} ${sources} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
  tlmssd_version(TLMSSD_VERSION ${source})
  if(OUTPUT)
    configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
  else()
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${TLMSSD_VERSION})
  endif()
endif()
