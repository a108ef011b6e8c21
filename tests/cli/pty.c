/*
 * Runs a program on a pseudo-terminal: pty COLUMNS PROGRAM [ARGUMENT...]. What the program writes
 * there comes out on standard output with plain newlines; its exit status is this one's.
 */
#define _XOPEN_SOURCE 700 /* posix_openpt */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(const char *terminal, int columns, char **command)
{
	struct winsize size = { .ws_row = 25, .ws_col = (unsigned short)columns };
	int slave = open(terminal, O_RDWR | O_NOCTTY);

	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) != 0 || dup2(slave, STDOUT_FILENO) < 0) {
		_exit(126);
	}
	execvp(command[0], command);
	_exit(127);
}

static void copy(int master)
{
	char buffer[4096];
	ssize_t length;

	/* Linux reports the closed terminal as an error: either way it is the end. */
	while ((length = read(master, buffer, sizeof buffer)) > 0) {
		for (ssize_t i = 0; i < length; i++) {
			if (buffer[i] != '\r') {
				putchar(buffer[i]);
			}
		}
	}
}

int main(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	const char *terminal;
	pid_t child;

	if (argc < 3 || master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
		return 126;
	}
	terminal = ptsname(master);
	if (!terminal) {
		return 126;
	}
	child = fork();
	if (child == 0) {
		run(terminal, atoi(argv[1]), argv + 2);
	}
	copy(master);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
		return 126;
	}
	return WEXITSTATUS(status);
}
