#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ptrdiff_t read_file(void *context, uint64_t offset, void *bytes, size_t size)
{
	const int *file = context;
	ssize_t got;

	if (offset > INT64_MAX) {
		return 0;
	}
	do {
		got = pread(*file, bytes, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got;
}

struct vc_stream *vc_stream_of(vc_stream_reader *read, void *context, uint64_t size)
{
	struct vc_stream *stream = malloc(sizeof *stream);

	if (stream) {
		stream->read = read;
		stream->context = context;
		stream->size = size;
		stream->offset = 0;
		stream->failed = false;
		stream->begin = 0;
		stream->end = 0;
	}
	return stream;
}

struct vc_stream *vc_stream_of_file(int *file, uint64_t size)
{
	return vc_stream_of(read_file, file, size);
}

uint64_t vc_stream_left(const struct vc_stream *stream)
{
	if (stream->size == UINT64_MAX) {
		return UINT64_MAX;
	}
	return stream->offset < stream->size ? stream->size - stream->offset : 0;
}

static bool fill(struct vc_stream *stream)
{
	ptrdiff_t got =
	        stream->read(stream->context, stream->offset, stream->buffer, VC_STREAM_BUFFER);

	stream->failed = got < 0;
	stream->begin = 0;
	stream->end = got > 0 ? (size_t)got : 0;
	return got > 0;
}

int vc_stream_refill(struct vc_stream *stream)
{
	return fill(stream) ? stream->buffer[0] : -1;
}

bool vc_stream_take(struct vc_stream *stream, void *bytes, size_t size)
{
	unsigned char *to = bytes;

	while (size > 0) {
		size_t step = stream->end - stream->begin;

		if (step == 0 && !fill(stream)) {
			return false;
		}
		step = stream->end - stream->begin;
		step = step < size ? step : size;
		memcpy(to, stream->buffer + stream->begin, step);
		stream->begin += step;
		stream->offset += step;
		to += step;
		size -= step;
	}
	return true;
}

bool vc_stream_skip(struct vc_stream *stream, uint64_t size)
{
	size_t held = stream->end - stream->begin;

	if (size > vc_stream_left(stream)) {
		return false;
	}
	if (size <= held) {
		stream->begin += (size_t)size;
	} else {
		stream->begin = 0;
		stream->end = 0;
	}
	stream->offset += size;
	return true;
}
