# Runs one golden case: cmake -DPROGRAM=... -DCASE=DIR -P run_case.cmake
# DIR holds args (one word a line), optionally stdin, and stdout, stderr, status with what must come
# out. With the environment variable UPDATE_GOLDEN set, it writes the last three instead;
# VRAMCALC_UNDER is a list of words to put before the program ("valgrind;-q").
file(STRINGS "${CASE}/args" args ENCODING UTF-8)
set(input)
if(EXISTS "${CASE}/stdin")
	set(input INPUT_FILE "${CASE}/stdin")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=NO_COLOR --unset=COLUMNS LC_ALL=C.UTF-8
	XDG_CONFIG_HOME=/nonexistent $ENV{VRAMCALC_UNDER} "${PROGRAM}" ${args}
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
