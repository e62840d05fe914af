// SPDX-License-Identifier: Apache-2.0
// temporary_files FOLDER: files that libc names, and a stream over a descriptor.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  char names[8][20] = {"a.XXXXXX",  "b.XXXXXX",  "c.XXXXXX",  "d.XXXXXX",
                       "e.XXXXXXz", "f.XXXXXXz", "g.XXXXXXz", "h.XXXXXXz"};
  if (count != 2 || chdir(arguments[1])) return 2;
  close(mkstemp(names[0])), close(mkstemp64(names[1])), close(mkostemp(names[2], O_APPEND)),
      close(mkostemp64(names[3], 0));
  close(mkstemps(names[4], 1)), close(mkstemps64(names[5], 1)), close(mkostemps(names[6], 1, O_APPEND));
  FILE *stream = fdopen(mkostemps64(names[7], 1, 0), "w");
  fputs("x", stream), fclose(stream), fclose(tmpfile()), fclose(tmpfile64());
  for (int i = 0; i < 8; i++) puts(names[i]);
  char wrong[] = "no template";
  return mkstemp(wrong) + 1;
}
