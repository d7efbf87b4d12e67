# The few functions that every folder's CMakeLists.txt uses, and the settings they share.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(H5VEC_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(H5VEC_PLUGIN_DIR "${PROJECT_BINARY_DIR}/plugins")

# Under AddressSanitizer: MPI's own libraries leak, in modules that are unloaded before the leaks are told.
set(H5VEC_MPI_LEAKS "ASAN_OPTIONS=detect_leaks=0")

# What every target of ours is compiled with.
add_library(h5vec_settings INTERFACE)
target_compile_definitions(h5vec_settings INTERFACE
  _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE _FILE_OFFSET_BITS=64 H5VEC_VERSION="${PROJECT_VERSION}")
target_compile_options(h5vec_settings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
  $<$<BOOL:${H5VEC_WERROR}>:-Werror>)

# h5vec_library(NAME SOURCES... [LINK targets...]): static library h5vec_NAME, also h5vec::NAME.
function(h5vec_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(h5vec_${name} STATIC ${ARG_SOURCES})
  add_library(h5vec::${name} ALIAS h5vec_${name})
  target_include_directories(h5vec_${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(h5vec_${name} PUBLIC ${ARG_LINK} PRIVATE h5vec_settings ${ARG_PRIVATE_LINK})
endfunction()

# h5vec_command(NAME SOURCES... LINK targets...): a program in bin/.
function(h5vec_command name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE h5vec_settings ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${H5VEC_BIN_DIR}")
endfunction()

# h5vec_unit_test(NAME SOURCES... LINK targets... [LABELS ...] [TIMEOUT s]): a serial Check program.
function(h5vec_unit_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE h5vec_settings PkgConfig::CHECK ${ARG_LINK})
  if(TEST_WRAPPER) # valgrind is 20 to 50 times slower
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 10")
  endif()
  separate_arguments(wrapper UNIX_COMMAND "${TEST_WRAPPER}")
  add_test(NAME ${name} COMMAND ${wrapper} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}"
    ENVIRONMENT "H5VEC_SOURCE_DIR=${PROJECT_SOURCE_DIR};CK_VERBOSITY=normal;CK_DEFAULT_TIMEOUT=60")
endfunction()

# h5vec_mpi_test(NAME SOURCES... LINK targets... RANKS 1 2 3): a Check program, one ctest per rank count.
function(h5vec_mpi_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;RANKS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE h5vec_settings PkgConfig::CHECK MPI::MPI_C ${ARG_LINK})
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${name}_np${ranks}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}_np${ranks} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS mpi PROCESSORS 2
      ENVIRONMENT "CK_FORK=no;H5VEC_SOURCE_DIR=${PROJECT_SOURCE_DIR};${H5VEC_MPI_LEAKS}")
  endforeach()
endfunction()

# h5vec_script_test(NAME COMMAND ... [LABELS ...] [TIMEOUT s] [PROCESSORS n]): a shell or Python test.
# It finds the build's commands through H5VEC_BIN; exit 77 is a visible skip.
function(h5vec_script_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PROCESSORS" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  set(leaks "")
  if("cli" IN_LIST ARG_LABELS)
    set(leaks "${H5VEC_MPI_LEAKS};")
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    PROCESSORS ${ARG_PROCESSORS} SKIP_RETURN_CODE 77 ENVIRONMENT
    "${leaks}H5VEC_BIN=${H5VEC_BIN_DIR};H5VEC_SOURCE_DIR=${PROJECT_SOURCE_DIR};MPIEXEC=${MPIEXEC_EXECUTABLE};H5VEC_HDF5_BIN=${H5VEC_HDF5_BIN};PYTHON=${H5VEC_PYTHON}")
endfunction()
