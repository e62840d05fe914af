// SPDX-License-Identifier: Apache-2.0
// family_inside FOLDER: functions that make many system calls inside libc, and walks that move the working directory.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define _GNU_SOURCE
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <semaphore.h>
#include <sys/stat.h>

#include "family.h"

static int opens(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status;
  if (type == FTW_F) close(open(path + where->base, O_RDONLY));
  return 0;
}

static void walks(void) {
  char *paths[] = {".", NULL};
  nftw(".", opens, 5, FTW_CHDIR);
  FTS *walk = fts_open(paths, FTS_PHYSICAL, NULL);
  for (FTSENT *entry; (entry = fts_read(walk));)
    if (entry->fts_info == FTS_F) close(open(entry->fts_accpath, O_WRONLY));
  fts_close(walk);
}

static void streams(void) {
  FILE *stream = fopen("in/file", "w+");
  fpos_t start;
  fgetpos(stream, &start);
  fwrite("123456", 1, 6, stream);
  fsetpos(stream, &start);
  fread(&start, 1, 3, stream);
  fcloseall();
  FILE *command = popen("echo 12345", "r");
  char text[16];
  fgets(text, 16, command);
  pclose(command);
  system("exit 3");
}

int main(int count, char **arguments) {
  struct dirent **entries, *entry, room;
  glob_t found;
  char *name;
  if (count != 2 || chdir(arguments[1]) || mkdir("in", 0755)) return 2;
  close(open("in/file", O_CREAT | O_WRONLY, 0644)), symlink("in/file", "soft");
  begin_calls();
  scandir(".", &entries, NULL, alphasort), scandir("none", &entries, NULL, NULL);
  glob("in/*", 0, NULL, &found);
  free(name = realpath("soft", NULL)), free(realpath("none", NULL));
  DIR *folder = opendir("in");
  while (readdir_r(folder, &room, &entry) == 0 && entry) continue;
  closedir(folder);
  sem_open("/mlrun-test-inside", O_CREAT, 0600, 1), sem_unlink("/mlrun-test-inside");
  walks();
  streams();
  sync();
  end_calls();
  return name == NULL;
}
