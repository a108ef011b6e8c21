/* The program: hands its arguments to the command table. */
#include "vramcalc/vramcalc.h"

#include <stdio.h>

int main(void)
{
	puts("vramcalc " VC_VERSION_STRING);
	return 0;
}
