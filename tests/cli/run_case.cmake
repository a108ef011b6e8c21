# Runs one golden case: cmake -DPROGRAM=... -DPTY=... -DCASE=DIR -P run_case.cmake
# DIR holds args (one word a line), and stdout, stderr, status with what must come out; optionally
# stdin, environment (NAME=VALUE lines), and terminal (its width: standard output is then one).
# With the environment variable UPDATE_GOLDEN set, it writes the three results instead;
# VRAMCALC_UNDER is a list of words to put before the program ("valgrind;-q").
if(NOT EXISTS "${CASE}/args") # a build of another checkout may still list the case
	message(FATAL_ERROR "${CASE}/args: not there")
endif()
file(STRINGS "${CASE}/args" args ENCODING UTF-8)
set(input)
if(EXISTS "${CASE}/stdin")
	set(input INPUT_FILE "${CASE}/stdin")
endif()
set(environment)
if(EXISTS "${CASE}/environment")
	file(STRINGS "${CASE}/environment" environment ENCODING UTF-8)
endif()
set(command $ENV{VRAMCALC_UNDER} "${PROGRAM}" ${args})
if(EXISTS "${CASE}/terminal")
	file(STRINGS "${CASE}/terminal" columns)
	list(PREPEND command "${PTY}" ${columns})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=NO_COLOR --unset=COLUMNS
		--unset=LC_CTYPE LC_ALL=C.UTF-8 TERM=xterm XDG_CONFIG_HOME=/nonexistent
		${environment} ${command}
	WORKING_DIRECTORY "${CASE}" ${input}
	OUTPUT_VARIABLE got_stdout ERROR_VARIABLE got_stderr RESULT_VARIABLE got_status)
string(APPEND got_status "\n")
foreach(part stdout stderr status)
	if(DEFINED ENV{UPDATE_GOLDEN})
		file(WRITE "${CASE}/${part}" "${got_${part}}")
		continue()
	endif()
	file(READ "${CASE}/${part}" want)
	if(NOT want STREQUAL got_${part})
		message(NOTICE "--- ${part}, expected\n${want}--- ${part}, came out\n${got_${part}}---")
		set(failed TRUE)
	endif()
endforeach()
if(failed)
	message(FATAL_ERROR "${CASE}: output differs")
endif()
