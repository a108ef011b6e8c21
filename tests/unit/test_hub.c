/* A hub on this machine that serves what is right, and what is wrong in every way. */
#include "http.h"
#include "hub.h"
#include "hub_cache.h"
#include "spec.h"
#include "test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMIT  "0123456789abcdef0123456789abcdef01234567"
#define FORMATS TESTS_DIR "/data/formats/"

static char cache[] = "/tmp/vramcalc-hub-XXXXXX";
static char endpoint[64];
static pid_t server;

/* ---- The server -------------------------------------------------------------------------------
 */

static void send_all(int client, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t sent = send(client, at, size, MSG_NOSIGNAL);

		if (sent <= 0) {
			return;
		}
		at += sent;
		size -= (size_t)sent;
	}
}

static void answer(int client, const char *status, const char *headers, const void *body,
                   size_t size)
{
	char head[1024];
	int length = snprintf(head, sizeof head,
	                      "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
	                      status, size, headers);

	send_all(client, head, (size_t)length);
	send_all(client, body, size);
}

static size_t load_file(const char *name, char *bytes, size_t room)
{
	char path[512];
	FILE *file;
	size_t size = 0;

	(void)snprintf(path, sizeof path, "%s%s", FORMATS, name);
	file = fopen(path, "rb");
	if (file) {
		size = fread(bytes, 1, room, file);
		(void)fclose(file);
	}
	return size;
}

/* The part that is asked for, of a file that is `total` bytes long on the hub. */
static void answer_range(int client, const char *request, const char *bytes, size_t size,
                         unsigned long long total)
{
	const char *range = strstr(request, "Range: bytes=");
	unsigned long long from = 0, to = 0;
	char headers[128];

	if (!range) {
		answer(client, "200 OK", "", bytes, size);
		return;
	}
	from = strtoull(range + 13, NULL, 10);
	to = strtoull(strchr(range + 13, '-') + 1, NULL, 10) + 1;
	to = to < size ? to : size;
	if (from >= to) {
		answer(client, "416 Range Not Satisfiable", "", "", 0);
		return;
	}
	(void)snprintf(headers, sizeof headers, "Content-Range: bytes %llu-%llu/%llu\r\n", from,
	               to - 1, total);
	answer(client, "206 Partial Content", headers, bytes + from, (size_t)(to - from));
}

static const char config[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 32,\n"
        "\"num_attention_heads\": 32, \"intermediate_size\": 11008, \"vocab_size\": 32000}";

static void list(int client, const char *files)
{
	char body[1024];
	int length =
	        snprintf(body, sizeof body, "{\"sha\": \"" COMMIT "\", \"siblings\": [%s]}", files);

	answer(client, "200 OK", "", body, (size_t)length);
}

/* huggingface.co/docs/hub/api: what a listing names. */
static void serve_listing(int client, const char *path, const char *request)
{
	if (strstr(path, "/sharded/")) {
		list(client, "{\"rfilename\": \"config.json\"}, {\"rfilename\": "
		             "\"llama-2-7b-sharded.safetensors.index.json\"}");
	} else if (strstr(path, "/gguf/")) {
		list(client, "{\"rfilename\": \"README.md\"}, "
		             "{\"rfilename\": \"llama-3.1-8b.Q4_K_M.gguf\"}");
	} else if (strstr(path, "/several/")) {
		list(client, "{\"rfilename\": \"a.gguf\"}, {\"rfilename\": \"b.gguf\"}");
	} else if (strstr(path, "/noranges/")) {
		list(client, "{\"rfilename\": \"model.safetensors\"}");
	} else if (strstr(path, "/gated/")) {
		/* opens to the right token alone */
		if (strstr(request, "Authorization: Bearer secret")) {
			list(client, "{\"rfilename\": \"config.json\"}");
		} else {
			answer(client, "401 Unauthorized", "", "", 0);
		}
	} else if (strstr(path, "/climbing/")) {
		list(client, "{\"rfilename\": \"../config.json\"}, {\"rfilename\": \"x/y.gguf\"}");
	} else if (strstr(path, "/nojson/")) {
		answer(client, "200 OK", "", "<html>", 6);
	} else if (strstr(path, "/loop/")) {
		answer(client, "302 Found", "Location: /api/models/org/loop/revision/main\r\n", "",
		       0);
	} else if (strstr(path, "/elsewhere/")) {
		answer(client, "302 Found", "Location: http://example.com/\r\n", "", 0);
	} else if (strstr(path, "/file/")) {
		answer(client, "302 Found", "Location: file:///etc/passwd\r\n", "", 0);
	} else if (strstr(path, "/once/")) {
		answer(client, "307 Temporary Redirect",
		       "Location: /api/models/org/gguf/revision/main\r\n", "", 0);
	} else if (strstr(path, "/busy/")) {
		answer(client, "503 Service Unavailable", "", "", 0);
	} else if (strstr(path, "/stall/")) {
		(void)sleep(30);
	} else if (strstr(path, "/cut/")) {
		static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";

		send_all(client, head, sizeof head - 1);
	} else {
		answer(client, "404 Not Found", "", "", 0);
	}
}

static void serve_file(int client, const char *path, const char *request)
{
	static char bytes[1 << 20];
	char name[128];
	size_t size;

	(void)snprintf(name, sizeof name, "%.*s", (int)strcspn(strrchr(path, '/') + 1, " "),
	               strrchr(path, '/') + 1);
	if (strcmp(name, "config.json") == 0) {
		answer(client, "200 OK", "", config, sizeof config - 1);
		return;
	}
	if (strcmp(name, "model.safetensors") == 0) {
		/* the whole file, whatever part is asked for */
		answer(client, "200 OK", "", bytes, sizeof bytes);
		return;
	}
	size = load_file(name, bytes, sizeof bytes);
	if (size == 0) {
		answer(client, "404 Not Found", "", "", 0);
	} else if (strstr(name, ".json")) {
		answer(client, "200 OK", "", bytes, size);
	} else {
		/* github.com/lhl/strix-halo-testing: 4912898304 bytes of tensors; the shards have
		 * what their headers say */
		unsigned long long total = strstr(name, ".gguf")        ? 4912898304ull + size
		                           : strstr(name, "-00001-of-") ? 4938989568ull + size
		                           : strstr(name, "-00002-of-") ? 4947378176ull + size
		                                                        : 3590463488ull + size;

		answer_range(client, request, bytes, size, total);
	}
}

static void serve(int listener)
{
	for (;;) {
		char request[8192];
		int client = accept(listener, NULL, NULL);
		size_t length = 0;
		ssize_t got = 1;
		char *path, *end;

		request[0] = '\0';
		while (client >= 0 && got > 0 && !strstr(request, "\r\n\r\n") &&
		       length < sizeof request - 1) {
			got = recv(client, request + length, sizeof request - 1 - length, 0);
			length += got > 0 ? (size_t)got : 0;
			request[length] = '\0';
		}
		path = strchr(request, ' ');
		end = path ? strchr(path + 1, ' ') : NULL;
		if (end) {
			char target[1024];

			(void)snprintf(target, sizeof target, "%.*s", (int)(end - path - 1),
			               path + 1);
			if (strncmp(target, "/api/", 5) == 0) {
				serve_listing(client, target, request);
			} else {
				serve_file(client, target, request);
			}
		}
		if (client >= 0) {
			(void)close(client);
		}
	}
}

static int start_server(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!mkdtemp(cache) || listener < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(listener, 16) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		return -1;
	}
	(void)snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%u", ntohs(address.sin_port));
	server = fork();
	if (server == 0) {
		serve(listener);
		_exit(0);
	}
	(void)close(listener);
	(void)setenv("HF_ENDPOINT", endpoint, 1);
	(void)setenv("XDG_CACHE_HOME", cache, 1);
	(void)setenv("VRAMCALC_HUB_TIMEOUT", "2", 1);
	(void)setenv("no_proxy", "127.0.0.1", 1);
	(void)unsetenv("HF_TOKEN");
	return server > 0 ? 0 : -1;
}

static void remove_tree(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		char inside[4096];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		(void)snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
		remove_tree(inside);
	}
	if (folder) {
		(void)closedir(folder);
	}
	(void)remove(path);
}

static int stop_server(void **state)
{
	(void)state;
	(void)kill(server, SIGTERM);
	(void)waitpid(server, NULL, 0);
	remove_tree(cache);
	return 0;
}

/* ---- The tests --------------------------------------------------------------------------------
 */

static bool has_libcurl(void)
{
	struct vc_http_options options = { .host = "localhost" };
	struct vc_error error;
	struct vc_http *http = vc_http_open(&options, &error);

	vc_http_close(http);
	return http != NULL;
}

static void names_have_parts(void **state)
{
	static const char *const bad[] = {
		"hf:",           "hf:org",           "hf:org/",         "hf:/name",
		"hf:org/name@",  "hf:org/name:",     "hf:../name",      "hf:org/..",
		"hf:org/na me",  "hf:org/name@a..b", "hf:org/name:x/y", "hf:org/name?x",
		"hf:org/name#x", "hf:org/name:../x", "hf:org/n%2F",     "hf:a/b/c",
	};
	struct vc_hub_name parts;

	(void)state;
	assert_true(vc_hub_name_parse("hf:meta-llama/Llama-2-7b-hf@refs/pr/1:a.gguf", &parts));
	assert_string_equal(parts.organization, "meta-llama");
	assert_string_equal(parts.model, "Llama-2-7b-hf");
	assert_string_equal(parts.revision, "refs/pr/1");
	assert_string_equal(parts.file, "a.gguf");
	assert_true(vc_hub_name_parse("hf:org/name", &parts));
	assert_string_equal(parts.revision, "main");
	assert_string_equal(parts.file, "");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (vc_hub_name_parse(bad[i], &parts)) {
			fail_msg("'%s' is taken for a name", bad[i]);
		}
	}
}

static void only_https_leaves_this_machine(void **state)
{
	static const struct {
		const char *url;
		bool allowed;
	} rows[] = {
		{ "https://huggingface.co/x", true },
		{ "http://127.0.0.1:8080/x", true },
		{ "http://localhost/x", true },
		{ "http://[::1]:80/", true },
		{ "http://huggingface.co/", false },
		{ "http://localhost.example.com/", false },
		{ "http://127.0.0.1.example.com/", false },
		{ "http://127.0.0.1@example.com/", false },
		{ "https://user:secret@example.com/", false },
		{ "ftp://localhost/", false },
		{ "file:///etc/passwd", false },
		{ "https://", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (vc_http_allowed(rows[i].url) != rows[i].allowed) {
			fail_msg("%s", rows[i].url);
		}
	}
}

static void expect_refusal(const char *name, const char *message)
{
	struct vc_error_list errors = { 0 };

	assert_null(vc_hub_fetch(name, false, &errors));
	assert_int_equal(errors.count, 1);
	assert_string_equal(errors.errors[0].file, name);
	assert_string_equal(errors.errors[0].message, message);
}

static void mistakes_of_a_hub_are_named(void **state)
{
	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	expect_refusal("hf:org/missing", "is not there");
	expect_refusal("hf:org/gated", "is not open to you: gated or private (HF_TOKEN with access "
	                               "is expected)");
	expect_refusal("hf:org/busy", "the server answers with status 503");
	expect_refusal("hf:org/nojson",
	               "the hub's answer names no commit (a hub of models is expected)");
	expect_refusal("hf:org/loop", "is redirected more than five times");
	expect_refusal("hf:org/elsewhere",
	               "is redirected to what is not https (https is expected)");
	expect_refusal("hf:org/file", "is redirected to what is not https (https is expected)");
	expect_refusal("hf:org/noranges",
	               "model.safetensors: the server ignores ranges (status 206 "
	               "is expected)");
	expect_refusal("hf:org/climbing",
	               "holds neither config.json nor weights that are understood");
	expect_refusal("hf:org/several",
	               "holds 2 GGUF files (one of them is expected: hf:...:a.gguf)");
	expect_refusal("hf:org/gguf:bad-ndims.gguf",
	               "bad-ndims.gguf: tensor 't' has 5 dimensions (0 to 4 are expected) at byte "
	               "33");
	expect_refusal("hf:org", "is no name of a model (hf:ORG/NAME, hf:ORG/NAME@REVISION or "
	                         "hf:ORG/NAME:FILE is expected)");
}

static void silence_ends(void **state)
{
	struct vc_error_list errors = { 0 };

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	assert_null(vc_hub_fetch("hf:org/cut", false, &errors));
	assert_non_null(strstr(errors.errors[0].message, "no answer: "));
	(void)setenv("HF_ENDPOINT", "http://127.0.0.1:1", 1);
	memset(&errors, 0, sizeof errors);
	assert_null(vc_hub_fetch("hf:org/x", false, &errors));
	assert_non_null(strstr(errors.errors[0].message, "no answer: "));
	(void)setenv("HF_ENDPOINT", "http://example.com", 1);
	expect_refusal("hf:org/x",
	               "HF_ENDPOINT: is no https address (plain http is for this machine "
	               "alone)");
	(void)setenv("HF_ENDPOINT", endpoint, 1);
}

static void read_hub(const char *name, bool offline, struct vc_spec *spec)
{
	struct vc_spec_options options = { .offline = offline };
	struct vc_error_list errors = { 0 };

	if (vc_spec_read(name, &options, spec, &errors) != VC_OK) {
		fail_msg("%s: %s", name, errors.errors[0].message);
	}
}

/* meta-llama/Llama-2-7b-hf has 6738415616 parameters in 13476831232 bytes. */
static void shards_and_config_are_one_model(void **state)
{
	struct vc_counts counts;
	struct vc_error error;
	struct vc_spec spec;

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	for (int offline = 0; offline < 2; offline++) {
		read_hub("hf:org/sharded", offline == 1, &spec);
		assert_string_equal(spec.model->name, "sharded");
		assert_int_equal(spec.model->source, VC_SOURCE_SAFETENSORS);
		assert_u64(spec.model->file.total_bytes, 13476831232);
		assert_u64(spec.model->file.params, 6738415616);
		assert_int_equal(vc_model_count(spec.model, &counts, &error), VC_OK);
		assert_u64(counts.total, 6738415616);
		vc_spec_free(&spec);
	}
}

static enum vc_status read_text(const char *text, bool offline, struct vc_spec *spec,
                                struct vc_error_list *errors)
{
	struct vc_spec_text source = { .name = "m.yaml", .text = text, .length = strlen(text) };
	struct vc_spec_options options = { .offline = offline };

	return vc_spec_read_memory(&source, &options, spec, errors);
}

static void weights_of_a_spec_lie_on_a_hub(void **state)
{
	struct vc_error_list errors = { 0 };
	struct vc_counts counts;
	struct vc_error error;
	struct vc_spec spec;

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	assert_int_equal(read_text("model: {weights: 'hf:org/sharded'}", false, &spec, &errors),
	                 VC_OK);
	assert_u64(spec.model->file.total_bytes, 13476831232);
	/* the shape comes from the config.json beside the shards */
	assert_int_equal(vc_model_count(spec.model, &counts, &error), VC_OK);
	assert_u64(counts.total, 6738415616);
	vc_spec_free(&spec);
	assert_int_equal(read_text("model: {weights: 'hf:org/never'}", true, &spec, &errors),
	                 VC_INVALID);
	assert_string_equal(errors.errors[0].field, "model.weights");
	assert_int_equal(errors.errors[0].line, 1);
	assert_string_equal(errors.errors[0].message,
	                    "hf:org/never is not in the cache (fetch it once without --offline)");
}

static void gguf_headers_are_fetched_alone(void **state)
{
	struct vc_spec spec;

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	/* "once" is redirected to the same */
	read_hub("hf:org/once", false, &spec);
	assert_u64(spec.model->file.total_bytes, 4912898304);
	vc_spec_free(&spec);
	read_hub("hf:org/gguf:llama-3.1-8b.Q4_K_M.gguf", false, &spec);
	assert_int_equal(spec.model->source, VC_SOURCE_GGUF);
	assert_u64(spec.model->file.params, 8030261248);
	vc_spec_free(&spec);
	/* a commit that is in the cache needs no hub at all */
	(void)setenv("HF_ENDPOINT", endpoint, 1);
	read_hub("hf:org/gguf@" COMMIT ":llama-3.1-8b.Q4_K_M.gguf", true, &spec);
	vc_spec_free(&spec);
}

static void tokens_open_what_is_gated(void **state)
{
	struct vc_spec spec;

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	(void)setenv("HF_TOKEN", "secret", 1);
	read_hub("hf:org/gated", false, &spec);
	assert_int_equal(spec.model->source, VC_SOURCE_CONFIG);
	vc_spec_free(&spec);
	(void)unsetenv("HF_TOKEN");
}

static void offline_says_what_it_lacks(void **state)
{
	struct vc_error_list errors = { 0 };

	(void)state;
	assert_null(vc_hub_fetch("hf:org/never", true, &errors));
	assert_string_equal(errors.errors[0].message,
	                    "is not in the cache (fetch it once without --offline)");
}

/* The last one: this server answers one request after the other. */
static void a_stall_ends(void **state)
{
	struct vc_error_list errors = { 0 };

	(void)state;
	if (!has_libcurl()) {
		skip();
	}
	(void)setenv("VRAMCALC_HUB_TIMEOUT", "1", 1);
	assert_null(vc_hub_fetch("hf:org/stall", false, &errors));
	assert_non_null(strstr(errors.errors[0].message, "no answer: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_parts),
		cmocka_unit_test(only_https_leaves_this_machine),
		cmocka_unit_test(mistakes_of_a_hub_are_named),
		cmocka_unit_test(silence_ends),
		cmocka_unit_test(shards_and_config_are_one_model),
		cmocka_unit_test(weights_of_a_spec_lie_on_a_hub),
		cmocka_unit_test(gguf_headers_are_fetched_alone),
		cmocka_unit_test(tokens_open_what_is_gated),
		cmocka_unit_test(offline_says_what_it_lacks),
		cmocka_unit_test(a_stall_ends),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
