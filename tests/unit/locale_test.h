/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests under a locale that the machine may not have.
 */
#ifndef LOCALE_TEST_H
#define LOCALE_TEST_H

#include <locale.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Switch to a locale ("de_DE") in UTF-8: installed, or compiled by localedef from Debian's sources. */
static inline bool use_locale(const char *name)
{
    char full[32], directory[] = "/tmp/h5vec-locale-XXXXXX", target[64], command[128];
    snprintf(full, sizeof full, "%s.UTF-8", name);
    if (setlocale(LC_ALL, full))
        return true;
    if (!mkdtemp(directory))
        return false;
    snprintf(target, sizeof target, "%s/%s", directory, full);
    char *const argv[] = {"localedef", "-i", (char *)name, "-f", "UTF-8", target, NULL};
    extern char **environ;
    pid_t child;
    int result = -1;
    if (posix_spawnp(&child, "localedef", NULL, NULL, argv, environ) == 0)
        waitpid(child, &result, 0);
    setenv("LOCPATH", directory, 1);
    bool there = setlocale(LC_ALL, full) != NULL;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 && there;
}

#endif
