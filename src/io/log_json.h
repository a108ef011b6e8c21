/*
 * Finds torch.cuda.memory_stats() and memory snapshots written as JSON, in a stream that may hold
 * other things as well. Unlike json_scan.h nothing here is an error: what is no JSON is passed
 * over.
 */
#ifndef VC_LOG_JSON_H
#define VC_LOG_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOG_JSON_DEPTH = 8, /* deeper objects are passed over */
	LOG_JSON_TOKEN = 96,
	LOG_JSON_DEVICES = 16
};

/* What is remembered of an object while its members pass. */
struct log_json_object {
	size_t path; /* length of the path that ends in its parent */
	bool segment, out_of_memory;
	uint64_t size, device, total, allocated, device_free;
};

struct log_json_device {
	uint64_t total_bytes, allocated_bytes;
};

struct log_json {
	unsigned depth;
	char quote; /* that ends the string being read; 0: none is */
	bool escaped;
	size_t length;
	char token[LOG_JSON_TOKEN];
	char key[LOG_JSON_TOKEN];
	char path[LOG_JSON_TOKEN]; /* keys of the objects around, with dots between */
	struct log_json_object objects[LOG_JSON_DEPTH + 1];
	bool snapshot;
	struct log_json_device devices[LOG_JSON_DEVICES];
};

struct log;

void log_json_feed(struct log *log, const char *bytes, size_t size);
/* Puts what a snapshot says into the evidence. */
void log_json_finish(struct log *log);

#endif
