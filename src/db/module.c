/* SPDX-License-Identifier: MIT */
#include "db/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/driver.h"
#include "util/error.h"
#include "util/text.h"

/* Tests of the functions link them, and need no module. */
#pragma weak mysql_module
#pragma weak pgsql_module

/* The loaded modules. */
static struct loaded_module {
    const char *name;
    const struct db_module *module;
} modules[] = {
    { "mysql", &mysql_module },
    { "pgsql", &pgsql_module },
};

/* Sets `path` to the path of the installed module.  Returns false if it is not installed. */
static bool find_module(struct text *path, const char *name)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    while (length > 0 && program[length - 1] != '/')
        length--;
    if (length > 0)
        text_add_bytes(path, program, (size_t)length);
    text_format(path, "fairmill-%s.so", name);
    if (length > 0 && !access(path->bytes, F_OK))
        return true;
    text_free(path);
    text_format(path, PKGLIBDIR "/fairmill-%s.so", name);
    return !access(path->bytes, F_OK);
}

static const struct db_module *load_module(const char *path, const char *name, struct error *err)
{
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s_module", name);
    void *handle = dlopen(path, RTLD_NOW);
    const struct db_module *module = handle ? dlsym(handle, symbol) : NULL;
    if (!module) {
        fail(err, ERROR_SETTINGS, "cannot load the driver '%s': %s", name, dlerror());
        return NULL;
    }
    if (!strcmp(module->version, PACKAGE_VERSION))
        return module;
    fail(err, ERROR_VERSION,
         "cannot load the driver '%s': '%s' is of fairmill %.40s, and this program is fairmill %s; "
         "install the same version of both",
         name, path, module->version, PACKAGE_VERSION);
    return NULL;
}

const struct db_functions *module_functions(const char *name, struct error *err)
{
    struct loaded_module *loaded = modules;
    while (strcmp(loaded->name, name))
        loaded++;
    struct text path = { 0 };
    if (!loaded->module && find_module(&path, name))
        loaded->module = load_module(path.bytes, name, err);
    else if (!loaded->module)
        fail(err, ERROR_SETTINGS,
             "the driver '%s' is not installed: '%s' does not exist; install fairmill-%s", name,
             path.bytes, name);
    text_free(&path);
    return loaded->module ? &loaded->module->functions : NULL;
}
