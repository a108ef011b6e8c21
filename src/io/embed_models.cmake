# Writes OUTPUT, a C file that holds the specs of MODELS_DIR as bytes with two sorted tables: the
# models by name and every name or alias, without case and separators (a dot is none), that finds one.
# A spec names its aliases in a comment: "# aliases: llama2-7b, meta-llama/Llama-2-7b-hf".
file(GLOB models RELATIVE ${MODELS_DIR} ${MODELS_DIR}/*.yaml)
list(TRANSFORM models REPLACE "\\.yaml$" "")
list(SORT models)

set(pool "")
set(entries "")
set(keys "")
set(count 0)

# Appends hexadecimal digits and a terminating zero to the pool and sets `at` to their offset.
macro(add_to_pool digits)
	string(LENGTH "${pool}" at)
	math(EXPR at "${at} / 2")
	string(APPEND pool "${digits}00")
endmacro()

foreach(name IN LISTS models)
	set(spec ${MODELS_DIR}/${name}.yaml)
	file(READ ${spec} digits HEX)
	file(READ ${spec} text)
	if(digits MATCHES "^(..)*[89a-f].")
		message(FATAL_ERROR "${spec}: a byte outside ASCII")
	endif()
	string(HEX "${name}" name_digits)
	add_to_pool("${name_digits}")
	set(name_at ${at})
	add_to_pool("${digits}")
	string(LENGTH "${digits}" length)
	math(EXPR length "${length} / 2")
	string(APPEND entries "\t{ ${name_at}, ${at}, ${length} },\n")

	set(names ${name})
	if(text MATCHES "# aliases: ([^\n]*)")
		string(REPLACE "," ";" aliases "${CMAKE_MATCH_1}")
		list(APPEND names ${aliases})
	endif()
	foreach(alias IN LISTS names)
		string(TOLOWER "${alias}" key)
		string(REGEX REPLACE "[^a-z0-9.]" "" key "${key}")
		list(APPEND keys "${key}!${count}")
	endforeach()
	math(EXPR count "${count} + 1")
endforeach()

# '!' sorts before letters and digits, as the end of a shorter key does.
list(REMOVE_DUPLICATES keys)
list(SORT keys)
list(LENGTH keys key_count)
set(rows "")
foreach(pair IN LISTS keys)
	string(REGEX MATCH "^(.*)!(.*)$" pair "${pair}")
	if(CMAKE_MATCH_1 STREQUAL last)
		message(FATAL_ERROR "two models answer to ${last}")
	endif()
	set(last "${CMAKE_MATCH_1}")
	set(index ${CMAKE_MATCH_2})
	string(HEX "${last}" digits)
	add_to_pool("${digits}")
	string(APPEND rows "\t{ ${at}, ${index} },\n")
endforeach()

string(REGEX REPLACE "(................................)" "\\1\n" pool "${pool}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," pool "${pool}")
file(WRITE ${OUTPUT} "#include \"bundled_data.h\"

const char vc_bundled_pool[] = {
${pool}
};

const struct vc_bundled_entry vc_bundled_entries[] = {
${entries}};
const size_t vc_bundled_entry_count = ${count};

const struct vc_bundled_key vc_bundled_keys[] = {
${rows}};
const size_t vc_bundled_key_count = ${key_count};
")
