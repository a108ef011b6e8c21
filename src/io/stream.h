/* Bytes in order from wherever they are: a file, a web server, memory. Flat memory, any size. */
#ifndef VC_STREAM_H
#define VC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VC_STREAM_BUFFER = 64 << 10
};

/*
 * Reads up to `size` bytes from `offset` on into `bytes`. Returns how many, 0 at the end, -1 on
 * failure.
 */
typedef ptrdiff_t vc_stream_reader(void *context, uint64_t offset, void *bytes, size_t size);

struct vc_stream {
	vc_stream_reader *read;
	void *context;
	uint64_t size;   /* of all there is; UINT64_MAX: not known */
	uint64_t offset; /* of the next byte */
	bool failed;     /* read() failed, rather than the bytes ending */
	size_t begin, end;
	unsigned char buffer[VC_STREAM_BUFFER];
};

/* Of an open file; allocates. NULL when memory ends. To be freed. */
struct vc_stream *vc_stream_of_file(int *file, uint64_t size);
struct vc_stream *vc_stream_of(vc_stream_reader *read, void *context, uint64_t size);

/* False when the bytes end before; nothing is promised about `bytes` then. */
bool vc_stream_take(struct vc_stream *stream, void *bytes, size_t size);
bool vc_stream_skip(struct vc_stream *stream, uint64_t size);

/* The next byte without taking it; -1 at the end. */
int vc_stream_refill(struct vc_stream *stream);
static inline int vc_stream_peek(struct vc_stream *stream)
{
	return stream->begin < stream->end ? stream->buffer[stream->begin]
	                                   : vc_stream_refill(stream);
}
/* Takes the byte that vc_stream_peek() has just shown. */
static inline void vc_stream_step(struct vc_stream *stream)
{
	stream->begin++;
	stream->offset++;
}

/* The bytes that are at hand, which may be none; vc_stream_advance() takes some of them. */
static inline const unsigned char *vc_stream_held(const struct vc_stream *stream, size_t *size)
{
	*size = stream->end - stream->begin;
	return stream->buffer + stream->begin;
}
static inline void vc_stream_advance(struct vc_stream *stream, size_t size)
{
	stream->begin += size;
	stream->offset += size;
}

/* How many bytes are left; UINT64_MAX when that is not known. */
uint64_t vc_stream_left(const struct vc_stream *stream);

#endif
